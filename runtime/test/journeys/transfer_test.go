package journeys_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
	"github.com/postrider/postrider/runtime/work/bus"
)

// masterKey returns a master key of 32 equal bytes.
func masterKey(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)) }

// fileSecret is the one-time key of the files of these tests.
var fileSecret = secret.NewKey()

// withStoreOf opens the store of a running app, as commands do.
func withStoreOf(t *testing.T, app *harness.App, keys string, do func(*store.Store, transfer.Options)) {
	t.Helper()
	cfg, err := config.Load(setting.Tool, "", setting.RawValues{"POSTRIDER_MASTER_KEY": keys,
		"DATABASE_URL": app.DatabaseURL, "POSTRIDER_DATA_DIR": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	opened, err := store.OpenExisting(t.Context(), cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close(log, store.StopLimit)
	do(opened, transfer.Options{Box: opened.Box, Secret: fileSecret, Program: "test", Credentials: true, AdjustStatistics: statistics.AdjustImported,
		Progress: func(string) {}})
}

func exportAccount(t *testing.T, app *harness.App, keys string) []byte {
	t.Helper()
	var file bytes.Buffer
	withStoreOf(t, app, keys, func(s *store.Store, o transfer.Options) {
		if _, err := transfer.Export(t.Context(), s.DB, app.AccountID, &file, o); err != nil {
			t.Fatal(err)
		}
	})
	return file.Bytes()
}

func importAccount(t *testing.T, app *harness.App, keys string, file []byte) error {
	t.Helper()
	var err error
	withStoreOf(t, app, keys, func(s *store.Store, o transfer.Options) {
		var imported *transfer.Result
		if imported, err = transfer.Import(t.Context(), s.DB, bytes.NewReader(file), o); err == nil {
			countImported(t, s.DB, imported.Manifest.AccountID)
		}
	})
	return err
}

// countImported counts events until those of an account are in the statistics.
func countImported(t *testing.T, d *db.DB, accountID string) {
	t.Helper()
	counting := statistics.New(statistics.Params{DB: d, Facts: bus.NewLog(d), Logger: slog.New(slog.DiscardHandler)})
	expect.Eventually(t, "the target has counted the imported events", func() bool {
		if err := counting.Count(t.Context()); err != nil {
			t.Fatal(err)
		}
		return dbtest.Count(t, d, `SELECT count(*) FROM statistics_marks WHERE fact_id > (SELECT coalesce(max(id), '') FROM facts WHERE account_id = $1)`, accountID) == 1
	})
}

// ofSource are reads that differ at the target, with the reason.
var ofSource = map[string]string{
	"/requests":                    "the test itself adds requests",
	"/requests/{id}":               "the test itself adds requests",
	"/domains/{id}/deliverability": "measured at the time of the call",
	"/automation-webhook-secret":   "derived from the master key of the installation",
	"/domains":                     "the target looks up the records of dev.test",
	"/domains/claims":              "a claim is between accounts of one installation",
	"/domains/claims/{id}":         "a claim is between accounts of one installation",
}

// Every read of the REST API responds the same in another installation, which has another master key, with the same API
// key.
func TestMovedAccountAnswersTheSame(t *testing.T) {
	t.Parallel()
	source := harness.Start(t, func(s setting.RawValues) { s["POSTRIDER_MASTER_KEY"] = sourceKey })
	target := harness.Start(t, func(s setting.RawValues) {
		s["POSTRIDER_MASTER_KEY"], s["POSTRIDER_DNS"] = targetKey, source.DNS.Addr()
		s["POSTRIDER_MX_PORT"] = strconv.Itoa(source.MX.Port())
	})
	source.MailDomain(t, "example.net")
	ids := map[string]string{}
	for resource, kind := range owned {
		ids[resource] = kind.add(t, source)
	}
	waitForStatus(t, source, ids["/emails"], "delivered")
	source.Do(t, http.MethodPost, "/api/domains/"+ids["/domains"]+"/verify", nil) // the target checks it at once
	dev := devDomain(t, source)
	dev.publish(t, source)
	finishRuns(t, source)
	file := exportAccount(t, source, sourceKey)

	if err := importAccount(t, target, targetKey, file); err == nil ||
		!strings.Contains(err.Error(), "has verified dev.test") {
		t.Errorf("with the domain of another account, the import returned %v", err)
	}
	taken := devDomain(t, target)
	wantAnswer(t, "deleting the domain", target.Do(t, http.MethodDelete, "/api/domains/"+taken.ID, nil), http.StatusOK)
	if err := importAccount(t, target, targetKey, file); err != nil {
		t.Fatal(err)
	}
	if err := importAccount(t, target, targetKey, file); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("the second import returned %v", err)
	}

	moved := withKey(target, source.APIKey)
	compared := 0
	for _, o := range operations(t, source) {
		if o.method != http.MethodGet || !o.keys || o.endless || ofSource[o.path] != "" {
			continue
		}
		path := o.pathFor(ids[o.resource()])
		if o.hasParameter("query", "limit") {
			path += "?limit=100"
		}
		compared++
		before, after := source.Do(t, o.method, path, nil), moved.Do(t, o.method, path, nil)
		if diff := cmp.Diff(ofInstallation(source, before), ofInstallation(target, after)); diff != "" {
			t.Errorf("%s differs (-source +target):\n%s", path, diff)
		}
	}
	if compared < 40 {
		t.Errorf("only %d operations were compared", compared)
	}
	waitForStatus(t, moved, send(t, moved, anEmail), "delivered") // signed with the key of the source
	checkSealed(t, source, target, sourceKey, targetKey, file)
}

// checkSealed checks that no master key seals anything in the file, and that the target finds the suppressions of the
// source.
func checkSealed(t *testing.T, source, target *harness.App, sourceKey, targetKey string, file []byte) {
	t.Helper()
	in, err := zstd.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	content, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		app *harness.App
		key string
	}{{source, sourceKey}, {target, targetKey}} {
		withStoreOf(t, of.app, of.key, func(s *store.Store, _ transfer.Options) {
			prefix := `\\x` + hex.EncodeToString(s.Box.Seal(nil, nil)[:5])
			if bytes.Contains(content, []byte(prefix)) {
				t.Errorf("the file contains a value that the master key of %s seals", of.app.BaseURL)
			}
		})
	}
	var list struct{ Suppressions []struct{ Email string } }
	source.Do(t, http.MethodGet, "/api/suppressions", nil).JSON(t, &list)
	if len(list.Suppressions) == 0 {
		t.Fatal("the source has no suppressions")
	}
	checkBlocked(t, withKey(target, source.APIKey), list.Suppressions[0].Email, true)
}

// installed matches what an installation determines: when something was used or checked last, signed links, addresses
// of reports, ports, cursors, and the id of a user who exists there.
var installed = regexp.MustCompile(
	`"(last_used_at|last_used_ip|last_checked_at|next_check_at|updated_at|as_of|expires_at)":("[^"]*"|null)|` +
		`"(url|raw_url|download_url|next_cursor)":("[^"]*"|null)|dmarc\+[a-z0-9]+@|"port":[0-9]+|"usr_[a-z0-9]+"`)

func ofInstallation(app *harness.App, a harness.Answer) string {
	body := strings.ReplaceAll(string(a.Body), app.BaseURL, "BASE")
	return http.StatusText(a.Status) + " " + installed.ReplaceAllString(body, "")
}

// finishRuns cancels the runs in progress, which are not exported.
func finishRuns(t *testing.T, app *harness.App) {
	t.Helper()
	var list struct {
		Runs []struct{ ID string } `json:"automation_runs"`
	}
	app.Do(t, http.MethodGet, "/api/automation-runs?status=waiting&limit=100", nil).JSON(t, &list)
	for _, run := range list.Runs {
		wantAnswer(t, "canceling a run", app.Do(t, http.MethodPost, "/api/automation-runs/"+run.ID+"/cancel", nil),
			http.StatusOK)
	}
	harness.Eventually(t, "nothing is in progress", func() bool {
		app.Do(t, http.MethodGet, "/api/automation-runs?status=waiting&limit=100", nil).JSON(t, &list)
		return len(list.Runs) == 0
	})
}
