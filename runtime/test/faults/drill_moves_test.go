package faults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// An account moves between two installations, again and again, while its clients send. In most moves the process of the
// source, that of the target or the command is killed at a random moment; the command is then repeated, or the move
// canceled. Every email arrives once, except for the attempts that were open when a process died, every run continues
// once, and every event is delivered.
func TestDrillMovesWithKills(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	seed := seedOf(t)
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	host.Set(faults.Reply, faults.Slow) // long enough for attempts to be open at a kill
	out := outbound(host)
	keyOf := func(letter string) string { return "POSTRIDER_MASTER_KEY=" + strings.Repeat(letter, 43) + "=" }
	first := faults.Start(t, dbtest.URL(t), out, keyOf("A"), "POSTRIDER_NODE=first")
	second := faults.Start(t, dbtest.URL(t), out, keyOf("Q"), "POSTRIDER_NODE=second")
	m := &mover{t: t, kills: map[string]int{}, random: rand.New(rand.NewPCG(seed, 1)),
		source: installation{first, operatorKey(t, first)}, target: installation{second, operatorKey(t, second)}}
	client, endpoint := m.createAccount()
	end := client.begin(t, 4) // more would let the account, which each move copies, grow too fast for 100 moves
	t.Cleanup(end)
	expect.Eventually(t, "the client sends", func() bool { return client.all.Count() > 10 })

	began := time.Now()
	for i := range lengthOf(2, 100) {
		m.move(i, seed)
		if i%5 == 4 {
			m.retryNow()
		}
	}
	took := time.Since(began)
	end()
	m.settle(sink, client)
	m.report(sink, client, endpoint, took)
}

// seedOf returns the seed of the random choices, which POSTRIDER_DRILL_SEED sets.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if given := os.Getenv("POSTRIDER_DRILL_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	figure(t, "seed", seed, "-")
	return seed
}

// installation is one side of the moves.
type installation struct {
	*faults.Server

	keyFile string // with an operator key
}

// operatorKey creates an operator key and returns its file.
func operatorKey(t *testing.T, s *faults.Server) string {
	t.Helper()
	var made struct{ Secret string }
	if err := json.Unmarshal(s.Command(s.Database(), "admin", "operator-key", "create", "--name=moves"), &made); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "operator.key")
	if err := os.WriteFile(file, []byte(made.Secret), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

type mover struct {
	t              *testing.T
	random         *rand.Rand
	source, target installation // exchanged by each move
	accountID      string

	kills                       map[string]int // by victim
	resumed, completed, retries int            // what followed failed commands
	canceled                    int
	durations                   []time.Duration // of moves without a kill
}

// admin runs a command of the source.
func (m *mover) admin(args ...string) []byte {
	m.t.Helper()
	return m.source.Command(m.source.Database(), append([]string{"admin"}, args...)...)
}

// createAccount creates the account that moves, with an automation and a webhook.
func (m *mover) createAccount() (*traveler, *unreliable) {
	m.t.Helper()
	var made struct{ Account struct{ ID string } }
	var key struct{ Secret string }
	if err := json.Unmarshal(m.admin("account", "create", "--email=ada@moving.test", "--name=Moving",
		"--plan=pro", "--unmetered"), &made); err != nil {
		m.t.Fatal(err)
	}
	m.accountID = made.Account.ID
	if err := json.Unmarshal(m.admin("key", "create", "--account="+m.accountID, "--name=drill"), &key); err != nil {
		m.t.Fatal(err)
	}
	client := newTraveler(m.source.BaseURL, key.Secret)
	m.wantOK(client.post("/api/domains", `{"name":"moving.test"}`, ""))
	m.source.Query(`UPDATE domains SET status = 'verified', due_at = NULL WHERE name = 'moving.test'`)
	endpoint := &unreliable{taken: map[string]int{}}
	receiver := httptest.NewServer(failFirst{endpoint})
	m.t.Cleanup(receiver.Close)
	m.wantOK(client.post("/api/webhooks", `{"url":"`+receiver.URL+`","events":["email.delivered"]}`, ""))
	_, content := client.post("/api/automations", `{"name":"Twice","trigger":{"event":"start"},"steps":[
		{"key":"one","type":"send_email","from":"ada@moving.test","subject":"1","text":"t"},
		{"key":"pause","type":"delay","duration":"`+lengthOf("PT4S", "PT8S")+`"},
		{"key":"two","type":"send_email","from":"ada@moving.test","subject":"2","text":"t"}]}`, "")
	var automation struct{ Automation struct{ ID string } }
	if err := json.Unmarshal(content, &automation); err != nil {
		m.t.Fatal(err)
	}
	m.wantOK(client.post("/api/automations/"+automation.Automation.ID, `{"action":"activate"}`, ""))
	return client, endpoint
}

func (m *mover) wantOK(status int, content []byte) {
	m.t.Helper()
	if status != http.StatusOK {
		m.t.Fatalf("preparing the account: %d %s", status, content)
	}
}

// failFirst refuses the first attempt of three in ten events.
type failFirst struct{ *unreliable }

func (f failFirst) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	event := r.Header.Get("Service-Event-Id")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.posts++
	if r.Header.Get("Service-Delivery-Attempt") == "1" && hashPercent(event) < 30 {
		f.failed++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	f.taken[event]++
}

// Victims of kills.
const (
	nobody    = "nobody"
	ofSource  = "process of the source"
	ofTarget  = "process of the target"
	ofCommand = "command"
)

// move moves the account to the other installation. The short form always kills something.
func (m *mover) move(number int, seed uint64) {
	m.t.Helper()
	victim := []string{nobody, ofSource, ofTarget, ofCommand}[m.random.IntN(4)]
	if !long {
		victim = []string{ofCommand, ofTarget, ofSource}[(seed+uint64(number))%3]
	}
	began := time.Now()
	err := m.command(victim)
	for try := 1; err != nil; try++ {
		m.retries++
		m.t.Logf("move %d, kill of the %s: %v", number, victim, err)
		if try > 4 {
			m.t.Fatalf("move %d was not completed by repeating the command", number)
		}
		m.checkFailed(victim == ofCommand && try == 1)
		err = m.command(nobody)
	}
	if victim == nobody {
		m.durations = append(m.durations, time.Since(began))
	}
	m.source, m.target = m.target, m.source
}

// command runs the command and kills the victim at a random moment.
func (m *mover) command(victim string) error {
	m.t.Helper()
	ctx, kill := context.WithCancel(m.t.Context())
	defer kill()
	ended := make(chan struct{})
	var failed error
	go func() {
		defer close(ended)
		_, told, err := m.source.TryUntil(ctx, m.source.Database(), "admin", "account", "move", m.accountID,
			"--to", m.target.BaseURL, "--key-file", m.target.keyFile, "--base-url", m.source.BaseURL)
		if err != nil {
			failed = fmt.Errorf("%w: %s", err, told)
		}
	}()
	if victim != nobody && (m.moment(ended) || victim != ofCommand) {
		m.kills[victim]++
		switch victim {
		case ofSource:
			m.source.KillNow()
			m.source.Launch()
		case ofTarget:
			m.target.KillNow()
			m.target.Launch()
		case ofCommand:
			kill()
		}
	}
	<-ended
	return failed
}

// moment waits for a random moment of the move: while the account is being frozen, during the copy, once the target has
// imported it, or once the source has finished. It reports whether the command is still running.
func (m *mover) moment(ended <-chan struct{}) bool {
	m.t.Helper()
	var reached func() bool
	wait := time.Duration(m.random.Int64N(int64(50 * time.Millisecond)))
	is := func(on installation, condition string) func() bool {
		return func() bool {
			return on.Query(`SELECT EXISTS (SELECT FROM accounts WHERE id = $1 AND `+condition+`)`, m.accountID)[0][0] == "true"
		}
	}
	switch m.random.IntN(5) {
	case 0:
		wait = time.Duration(m.random.Int64N(int64(6 * time.Second)))
	case 1, 2: // the export begins about a second after the freeze
		reached = is(m.source, `frozen_at < now() - interval '900 milliseconds' AND move_code IS NOT NULL`)
		wait = time.Duration(m.random.Int64N(int64(time.Second)))
	case 3: // only an imported copy is frozen there
		reached = is(m.target, `frozen_at IS NOT NULL AND moved_to IS NULL AND frozen_at > now() - interval '1 minute'`)
	case 4:
		reached = is(m.source, `moved_to IS NOT NULL`)
	}
	running := func() bool {
		select {
		case <-ended:
			return false
		default:
			return true
		}
	}
	for reached != nil && running() && !reached() {
		<-time.After(2 * time.Millisecond)
	}
	select {
	case <-ended:
	case <-time.After(wait):
	}
	return running()
}

// checkFailed checks what a failed command has left: the account works at the source, or the move has finished. After a
// kill of the command, the move is sometimes canceled.
func (m *mover) checkFailed(killed bool) {
	m.t.Helper()
	var shown struct{ Account struct{ Move string } }
	if err := json.Unmarshal(m.admin("account", "show", m.accountID), &shown); err != nil {
		m.t.Fatal(err)
	}
	switch at := shown.Account.Move; {
	case at == "":
		m.resumed++
	case strings.HasPrefix(at, "moved:"):
		m.completed++
	case !killed:
		m.t.Errorf("a failed command has left the account as %q", at)
	case m.random.IntN(2) == 0:
		m.admin("account", "cancel-move", m.accountID)
		m.canceled++
	}
}

// retryNow makes emails and webhook deliveries due that wait for another attempt, unless they are parked. Those with an
// attempt in progress are left alone: another claim would double them.
func (m *mover) retryNow() {
	m.source.Query(`UPDATE webhook_works w SET due_at = now() WHERE due_at BETWEEN now() + interval '1 second' AND now() + interval '1 day'
		AND NOT EXISTS (SELECT FROM webhook_attempts a WHERE a.delivery_id = w.id AND a.outcome IS NULL)`)
	m.source.Query(`UPDATE recipients r SET due_at = now() WHERE state = 'deferred' AND lane IS NULL AND due_at > now() AND due_at < now() + interval '1 day'
		AND NOT EXISTS (SELECT FROM attempts a WHERE a.recipient_id = r.id AND a.outcome IS NULL)`)
}

// settle waits until all work has ended.
func (m *mover) settle(sink *faults.Sink, client *traveler) {
	m.t.Helper()
	expect.Eventually(m.t, "every run has ended", func() bool {
		return m.source.Query(`SELECT count(*) FROM automation_runs WHERE ended_at IS NULL`)[0][0] == "0"
	})
	for _, row := range m.source.Query(`SELECT e.id, r.address FROM emails e JOIN recipients r ON r.email_id = e.id WHERE e.run_id IS NOT NULL`) {
		client.all.Accept(faults.Accepted{EmailID: row[0], Recipient: row[1]})
	}
	expect.EventuallyWithin(m.t, 10*time.Minute, "everything has arrived and every event is delivered", func() bool {
		m.retryNow()
		return client.all.Missing(sink) == 0 && m.source.Query(`SELECT (SELECT count(*) FROM webhook_deliveries WHERE state = 'pending')
			+ (SELECT count(*) FROM bus_messages) + (SELECT count(*) FROM recipients WHERE settled_at IS NULL)`)[0][0] == "0"
	})
}

func (m *mover) report(sink *faults.Sink, client *traveler, endpoint *unreliable, took time.Duration) {
	t := m.t
	t.Helper()
	kills := 0
	for _, n := range m.kills {
		kills += n
	}
	runs := int(client.runs.Load())
	slices.Sort(m.durations)
	figure(t, "moves, in", fmt.Sprintf("%d, %s", lengthOf(2, 100), took.Round(time.Second)), "2 short, 100 long")
	figure(t, "kills of the source, target, command",
		fmt.Sprintf("%d, %d, %d", m.kills[ofSource], m.kills[ofTarget], m.kills[ofCommand]), "each in the long form")
	figure(t, "failed commands: resumed, finished, canceled, repeated",
		fmt.Sprintf("%d, %d, %d, %d", m.resumed, m.completed, m.canceled, m.retries), "-")
	if n := len(m.durations); n > 0 {
		figure(t, "duration of a move without a kill, median, longest",
			fmt.Sprintf("%s, %s", m.durations[n/2].Round(time.Millisecond), m.durations[n-1].Round(time.Millisecond)), "-")
	}
	figure(t, "requests refused while frozen, redirected",
		fmt.Sprintf("%d, %d", client.count("503 account_moving"), client.count("307 account_moved")), "> 0")
	figure(t, "requests without a response, sends of unknown outcome",
		fmt.Sprintf("%d, %d", client.count(""), client.unknown.Load()), "during kills")
	audit(t, client.all.Audit(sink, m.source.Unknown(), nil))
	oneEmailPerClientRecipient(t, sink)

	scheduled := client.scheduled.Audit(sink, nil, nil)
	figure(t, "scheduled emails, lost", fmt.Sprintf("%d, %d", scheduled.Accepted, scheduled.Lost), "0 lost")
	figure(t, "emails that were deferred at first", sink.Deferred(), "all arrive")
	done := m.source.Query(`SELECT (SELECT count(*) FROM automation_runs WHERE status = 'completed'),
		(SELECT count(*) FROM emails WHERE run_id IS NOT NULL), (SELECT count(DISTINCT (run_id, subject)) FROM emails WHERE run_id IS NOT NULL)`)[0]
	figure(t, "runs, completed, their emails, different ones", fmt.Sprintf("%d, %s", runs, strings.Join(done, ", ")),
		"2 emails each")
	events := m.source.Query(`SELECT count(*) FROM facts WHERE type = 'email.delivered' AND account_id = $1`, m.accountID)[0][0]
	taken, again := endpoint.counts()
	figure(t, "events, delivered, again", fmt.Sprintf("%s, %d, %d", events, taken, again), "all")
	left := m.target.Query(`SELECT (SELECT count(*) FROM recipients WHERE due_at IS NOT NULL) + (SELECT count(*) FROM automation_works)
		+ (SELECT count(*) FROM webhook_works) + (SELECT count(*) FROM emails WHERE release_at IS NOT NULL)`)[0][0]
	if kills == 0 || scheduled.Lost > 0 || left != "0" || events != strconv.Itoa(taken) ||
		!slices.Equal(done, []string{strconv.Itoa(runs), strconv.Itoa(2 * runs), strconv.Itoa(2 * runs)}) {
		t.Errorf("%d kills, %d scheduled emails lost, %s works left at the source, %d of %s events delivered, %d runs: %v",
			kills, scheduled.Lost, left, taken, events, runs, done)
	}
	if bad := client.unwanted(); len(bad) > 0 || client.contradictions.Load() > 0 {
		t.Errorf("clients got %s; %d replays of a key had another response", strings.Join(bad, ", "),
			client.contradictions.Load())
	}
}

// oneEmailPerClientRecipient is oneEmailPerRecipient for the recipients of travelers, who get the two emails of each
// run.
func oneEmailPerClientRecipient(t *testing.T, sink *faults.Sink) {
	t.Helper()
	messages := map[string]map[string]bool{}
	for _, line := range sink.Lines() {
		if messages[line.Recipient] == nil {
			messages[line.Recipient] = map[string]bool{}
		}
		messages[line.Recipient][line.Message] = true
	}
	for to, different := range messages {
		want := 1 + strings.Count(to, "run")
		if travelersName.MatchString(to) && len(different) != want {
			t.Errorf("%s had %d messages, want %d", to, len(different), want)
		}
	}
}
