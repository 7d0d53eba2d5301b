package journeys_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/rest/pages/dashboard"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// notOfAccount are documents that do not describe the account, with the reason.
var notOfAccount = map[string]string{
	"installation":          "of the installation",
	"OperatorAccounts":      "of the installation",
	"OperatorAccountDetail": "of the installation",
	"OperatorDelivery":      "of the installation",
	"OperatorHealth":        "of the installation",
	"OperatorPayments":      "of the installation",
	"OperatorPlans":         "of the installation",
	"OperatorProcesses":     "of the installation",
	"DevelopmentSeeds":      "of the installation in development",
	"LatestEvent":           "the position in the events of the installation",
}

// withoutData are fields that have no data at the source, with the reason.
var withoutData = map[string]string{
	"TeamInvitations.invitations": "open invitations stay, because their links name the installation",
}

// Every query of docs/queries and of the dashboard returns data, and the same in another installation after a move. The
// account has rows in every table, and unfinished work. A frozen account answers queries, so nothing changes meanwhile.
func TestMovedAccountAnswersQueriesTheSame(t *testing.T) {
	t.Parallel()
	source, target := installationsWith(t, sourceKey) // in which addresses for reports are the same
	same := sameInstallation(t, source, target)
	w, bob := richWorld(t, source)
	addReports(t, target) // the names of the sources of reports, which each installation looks up
	postponeChecks(t, source)
	postponeChecks(t, target)
	file := moveOut(t, source)
	if err := importAccount(t, target, sourceKey, file); err != nil {
		t.Fatal(err)
	}
	compareTables(t, source, target)

	there := target.SignedIn(t, "bob@example.com", bobsPassword)
	compared := 0
	for _, q := range queriesOf(t) {
		if notOfAccount[q.name] != "" {
			continue
		}
		compared++
		ask := asked{"query": q.text, "variables": w.variablesOf(t, q)}
		if q.hash != "" {
			ask = asked{"documentId": "sha256:" + q.hash, "variables": w.variablesOf(t, q)}
		}
		before, after := bob.Do(t, http.MethodPost, "/graphql", ask), there.Do(t, http.MethodPost, "/graphql", ask)
		for _, empty := range fieldsWithoutData(t, before.Body) {
			if field := q.name + "." + empty; withoutData[field] == "" {
				t.Errorf("%s has no data, so it proves nothing: %s", field, before.Body)
			}
		}
		if diff := cmp.Diff(same(before.Body), same(after.Body)); diff != "" {
			t.Errorf("%s differs (-source +target):\n%s", q.name, diff)
		}
	}
	if compared < 110 {
		t.Errorf("only %d queries were compared", compared)
	}
}

// postponeChecks keeps an installation from checking the records of domains, which the target does right after an
// import. The results could appear between two queries.
func postponeChecks(t *testing.T, app *harness.App) {
	t.Helper()
	withStoreOf(t, app, sourceKey, func(s *store.Store, _ transfer.Options) {
		dbtest.Exec(t, s.DB, `CREATE FUNCTION postpone_check() RETURNS trigger LANGUAGE plpgsql
			AS 'BEGIN NEW.due_at := NULL; RETURN NEW; END'`)
		for _, table := range []string{"domains", "tracking_hosts"} {
			dbtest.Exec(t, s.DB, `CREATE TRIGGER postpone BEFORE INSERT OR UPDATE ON `+table+
				` FOR EACH ROW EXECUTE FUNCTION postpone_check()`)
			dbtest.Exec(t, s.DB, `UPDATE `+table+` SET due_at = NULL`)
		}
	})
}

// knownQuery is a query of docs/queries or of the dashboard.
type knownQuery struct{ name, text, hash string }

var operationName = regexp.MustCompile(`^query (\w+)`)

func queriesOf(t *testing.T) (found []knownQuery) {
	t.Helper()
	files, err := filepath.Glob("../../../docs/queries/*.graphql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, knownQuery{name: strings.TrimSuffix(filepath.Base(file), ".graphql"), text: string(text)})
	}
	documents, err := dashboard.Documents()
	if err != nil {
		t.Fatal(err)
	}
	for _, hash := range slices.Sorted(maps.Keys(documents)) {
		if name := operationName.FindStringSubmatch(documents[hash]); name != nil { // no mutation or subscription
			found = append(found, knownQuery{name: name[1], text: documents[hash], hash: hash})
		}
	}
	return found
}

// variablesOf returns the declared variables of a query that the world has a value for.
func (w *world) variablesOf(t *testing.T, q knownQuery) map[string]any {
	t.Helper()
	if q.hash == "" {
		values := w.variables(q.text)
		if values["address"] != nil {
			values["address"] = "bob@example.net"
		}
		return values
	}
	values := map[string]any{"range": w.values["range"], "interval": "HOUR", "timezone": w.values["timezone"],
		"after": nil}
	if strings.Contains(q.text, "$before: DateTime") {
		values["before"] = time.Now().Add(-72 * time.Hour).UTC().Format(time.RFC3339)
	}
	maps.Copy(values, w.values["range"].(map[string]any))
	maps.Copy(values, map[string]any{"ids": []any{w.values["email"]}, "email": "bob@example.net", "q": "bob",
		"query": "welcome", "name": "User.Created", "domainId": w.values["domain"], "webhookId": w.values["webhook"],
		"groupBy": "TAG"})
	out := map[string]any{}
	declared, _, _ := strings.Cut(q.text, ") {")
	for _, name := range declaredVariable.FindAllStringSubmatch(declared, -1) {
		if value, known := values[name[1]]; known {
			out[name[1]] = value
		}
	}
	if strings.Contains(declared, "$id: ID") {
		root := rootOfID.FindStringSubmatch(q.text)
		if root == nil || w.values[root[1]] == nil {
			t.Errorf("%s takes an id of an unknown kind: %v", q.name, root)
			return out
		}
		out["id"] = w.values[root[1]]
	}
	return out
}

var (
	declaredVariable = regexp.MustCompile(`\$(\w+):`)
	rootOfID         = regexp.MustCompile(`(\w+)\((?:[^()]*\s)?(?:id|\w+Id): \$id\b`)
)

// fieldsWithoutData returns the root fields of a response without any text, number or true value.
func fieldsWithoutData(t *testing.T, body []byte) (empty []string) {
	t.Helper()
	var answer struct {
		Data   map[string]any
		Errors any
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Errors != nil || answer.Data == nil {
		t.Errorf("the answer %s is an error: %v", body, err)
	}
	for name, value := range answer.Data {
		if !holdsData(value) {
			empty = append(empty, name)
		}
	}
	slices.Sort(empty)
	return empty
}

func holdsData(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if name != "pageInfo" && name != "start" && name != "isExact" && holdsData(value) {
				return true
			}
		}
		return false
	case []any:
		return slices.ContainsFunc(v, holdsData)
	case float64:
		return v != 0
	case string:
		return v != ""
	case bool:
		return v
	}
	return false
}

// sameInstallation returns a function that removes what an installation determines.
func sameInstallation(t *testing.T, source, target *harness.App) func([]byte) string {
	t.Helper()
	wantAnswer(t, "the name of a person who exists at the target, which stays",
		signInOwner(t, target).Do(t, http.MethodPatch, "/api/user", asked{"name": "Ada"}), http.StatusOK)
	owners := strings.NewReplacer(source.BaseURL, "BASE", target.BaseURL, "BASE",
		idOf(t, signInOwner(t, source)), "OWNER", idOf(t, signInOwner(t, target)), "OWNER")
	return func(body []byte) string {
		var indented any
		if err := json.Unmarshal(body, &indented); err != nil {
			t.Fatal(err)
		}
		text, err := json.MarshalIndent(withoutSignIns(indented), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		late := postponed.ReplaceAllStringFunc(string(text), func(year string) string {
			n, err := strconv.Atoi(year[1:])
			if err != nil {
				t.Fatal(err)
			}
			return `"` + strconv.Itoa(n-200)
		})
		return owners.Replace(determined.ReplaceAllString(late, `"$1$2": "*"`))
	}
}

// withoutSignIns removes the entries of the audit log about sign-ins, which the test itself adds, and the ids of queued
// recipients, which contain a number of the database.
func withoutSignIns(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v["destination"] != nil && v["emailId"] != nil {
			delete(v, "id")
		}
		for name, value := range v {
			v[name] = withoutSignIns(value)
		}
	case []any:
		kept := slices.DeleteFunc(v, func(entry any) bool {
			fields, isObject := entry.(map[string]any)
			return isObject && fields["action"] == "session.started"
		})
		for i := range kept {
			kept[i] = withoutSignIns(kept[i])
		}
		return kept
	}
	return v
}

// determined matches cursors, which contain numbers of the database, ports, and what changes at either installation
// meanwhile: the target checks domains, and the source stores the latest use of keys with a delay.
var determined = regexp.MustCompile(
	`"(endCursor|startCursor|lastCheckedAt|lastUsedAt|lastUsedIp)": (?:"[^"]+"|null)|"(port|oldestAgeSeconds)": [0-9]+`)

// postponed matches the year of a due time in a copy that has not started.
var postponed = regexp.MustCompile(`"22\d\d`)
