package faults_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

var emailID = regexp.MustCompile(`msg_\w{26}`)

// Clients of two cells use one base URL, through HAProxy with the configuration of deploy/cells. Each cell has two
// processes and its own database, and both export their events to one JetStream stream. A request goes to the cell of
// its key, and a cell that is down affects no client of the other.
func TestDrillCellsBehindOneProxy(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	broker := faults.StartBroker(t)
	c := startCells(t, host, "POSTRIDER_EVENTS_TO="+broker.URL())
	cell0, cell7, front := c.cell0, c.cell7, c.both
	through0, through7 := cell0[0].Through(front), cell7[0].Through(front)
	expect.Eventually(t, "the proxy reaches both cells", func() bool {
		return accountOf(t, through0) == cell0[0].AccountID && accountOf(t, through7) == cell7[0].AccountID
	})
	// Every way to send a key leads to its cell.
	for _, c := range []struct{ path, body, header, value string }{
		{"/resend/emails", `{"from":"ada@dev.test","to":"bob@example.net","subject":"s","text":"t"}`,
			"Authorization", "bearer " + cell7[0].APIKey},
		{"/postmark/email", `{"From":"ada@dev.test","To":"bob@example.net","Subject":"s","TextBody":"t"}`,
			"X-Postmark-Server-Token", cell7[0].APIKey},
		{"/mailgun/v3/dev.test/messages", "from=ada@dev.test&to=bob@example.net&subject=s&text=t",
			"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("api:"+cell7[0].APIKey))},
	} {
		header := []string{"Authorization", "", c.header, c.value}
		if !strings.HasPrefix(c.body, "{") {
			header = append(header, "Content-Type", "application/x-www-form-urlencoded")
		}
		a := through0.Do(t.Context(), http.MethodPost, c.path, c.body, header...)
		if sent := emailID.FindString(string(a.Body)); id.Cell(sent) != 7 {
			t.Errorf("%s with a key of cell 7 returned %d %s, want an email of cell 7", c.path, a.Status, a.Body)
		}
	}
	// A user of cell 7 who asks at the base URL of both gets the email from cell 7.
	const user = "grace@example.net"
	cell7[0].Command(cell7[0].Database(), "admin", "user", "create", "--email", user)
	if a := through0.Do(t.Context(), http.MethodPost, "/api/password/forgot", `{"email":"`+user+`"}`, "Authorization", ""); a.Status/100 != 2 {
		t.Fatalf("a password reset returned %d %s", a.Status, a.Body)
	}
	expect.Eventually(t, "cell 7 sends the password reset", func() bool {
		return cell7[0].Query(`SELECT count(*) FROM recipients WHERE address = $1 AND state = 'delivered'`, user)[0][0] == "1"
	})

	load0, load7 := faults.Begin(through0, lengthOf(1, 4)), faults.Begin(through7, lengthOf(1, 4))
	expect.Eventually(t, "both cells send", func() bool { return load0.Count() > 50 && load7.Count() > 50 })
	restarts := 0
	for range lengthOf(1, 5) {
		restarts += restart(t, slices.Concat(cell0, cell7)[:lengthOf(1, 4)])
	}
	load7.End()
	counts7, _ := load7.Statuses()
	for _, node := range cell7 {
		node.KillNow()
	}
	before := load0.Count()
	expect.Eventually(t, "a request to the dead cell fails with 503", func() bool {
		return through7.Do(t.Context(), http.MethodGet, "/api/account", "").Status == http.StatusServiceUnavailable
	})
	expect.Eventually(t, "the other cell continues", func() bool { return load0.Count() > before+lengthOf(100, 2000) })
	for _, node := range cell7 {
		node.Launch()
	}
	expect.Eventually(t, "the cell is back", func() bool { return accountOf(t, through7) == cell7[0].AccountID })
	load0.End()
	counts0, _ := load0.Statuses()
	expect.Eventually(t, "all accepted mail has arrived",
		func() bool { return load0.Missing(sink) == 0 && load7.Missing(sink) == 0 })
	awaitIdle(t, cell0[0])
	awaitIdle(t, cell7[0])
	exportDrill{t: t, nodes: cell0, broker: broker, reader: broker.Reader()}.everyFactOnce(cell7[0])
	unknown := cell7[0].Unknown() // open when the cell was killed
	for _, node := range slices.Concat(cell0, cell7) {
		node.KillNow() // without the delay
	}

	figure(t, "rolling restarts", restarts, "-")
	figure(t, "answers of cell 0, also while cell 7 was down", fmt.Sprint(counts0), "200 only")
	figure(t, "answers of cell 7, until it was killed", fmt.Sprint(counts7), "200 only")
	wrong := 0
	for cell, load := range map[int]*faults.Load{0: load0, 7: load7} {
		for email := range load.EmailIDs() {
			if id.Cell(email) != cell {
				wrong++
			}
		}
	}
	figure(t, "emails in the wrong cell", wrong, "0")
	if len(counts0) != 1 || len(counts7) != 1 || counts0[http.StatusOK] == 0 || counts7[http.StatusOK] == 0 || wrong > 0 {
		t.Errorf("cell 0 answered %v, cell 7 %v, want 200 only; %d emails in the wrong cell", counts0, counts7, wrong)
	}
	audit(t, load0.Audit(sink, unknown, nil))
	audit(t, load7.Audit(sink, unknown, nil))
}

// twoCells are cells 0 and 7 behind one proxy.
type twoCells struct {
	cell0, cell7       faults.Cluster
	both, only0, only7 string // base URLs
}

// startCells starts two processes of each cell, with the settings env, and HAProxy.
func startCells(t *testing.T, host *faults.Host, env ...string) (c twoCells) {
	t.Helper()
	address := expect.FreeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	c.both, c.only0, c.only7 = "http://"+address, "http://"+hostOfCell0+":"+port, "http://"+hostOfCell7+":"+port
	start := func(number string) faults.Cluster {
		return faults.StartCluster(t, dbtest.URL(t), 2, append(env, outbound(host), drainDelay, "POSTRIDER_CELL="+number,
			"POSTRIDER_MASTER_KEY="+number+strings.Repeat("A", 42)+"=", // moving an account requires the setting
			"POSTRIDER_CELLS="+c.only0+","+c.only7, "POSTRIDER_CELLS_KEY=C"+strings.Repeat("A", 42)+"=")...)
	}
	c.cell0, c.cell7 = start("0"), start("7")
	c.startHAProxy(t, address)
	return c
}

// restart restarts processes one after the other, and returns their number.
func restart(t *testing.T, nodes []*faults.Server) int {
	t.Helper()
	for _, node := range nodes {
		if err := node.Stop(); err != nil {
			t.Errorf("a process exited with %v", err)
		}
		node.Launch()
	}
	return len(nodes)
}

// accountOf returns the ID of the account whose key the client sends, or "" if there is no answer.
func accountOf(t *testing.T, client *faults.Server) string {
	t.Helper()
	var answer struct{ Account struct{ ID string } }
	if a := client.Do(t.Context(), http.MethodGet, "/api/account", ""); a.Status == http.StatusOK {
		if err := json.Unmarshal(a.Body, &answer); err != nil {
			t.Errorf("read %s: %v", a.Body, err)
		}
	}
	return answer.Account.ID
}

const hostOfCell0, hostOfCell7 = "127.0.0.100", "127.0.0.107"

// startHAProxy runs HAProxy at an address, with the configuration of deploy/cells for these processes and without TLS.
func (c twoCells) startHAProxy(t *testing.T, address string) {
	t.Helper()
	sample, err := os.ReadFile("../../../deploy/cells/haproxy.cfg")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(address, ":")
	config := string(sample)
	for from, to := range map[string]string{
		":443 ssl crt /etc/haproxy/mail.example.com.pem alpn h2,http/1.1": address + "," + hostOfCell0 + ":" + port + "," + hostOfCell7 + ":" + port,
		"cell0.mail.example.com": hostOfCell0, "cell7.mail.example.com": hostOfCell7,
		"10.0.0.11:8080": c.cell0[0].BaseURL, "10.0.0.12:8080": c.cell0[1].BaseURL,
		"10.0.7.11:8080": c.cell7[0].BaseURL, "10.0.7.12:8080": c.cell7[1].BaseURL,
	} {
		if strings.Count(config, from) != 1 {
			t.Fatalf("deploy/cells/haproxy.cfg must contain %q once", from)
		}
		config = strings.Replace(config, from, strings.TrimPrefix(to, "http://"), 1)
	}
	runHAProxy(t, config)
}

// runHAProxy runs HAProxy with a configuration. The test is skipped if HAProxy is not installed.
func runHAProxy(t *testing.T, config string) {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		program = "/usr/sbin/haproxy"
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("HAProxy is not installed")
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "-db", "-f", file)
	log := &expect.Log{}
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := command.Process.Kill(); err != nil {
			t.Errorf("stop HAProxy: %v", err)
		}
		_ = command.Wait() // ended by the signal
		if t.Failed() {
			t.Logf("log of HAProxy:\n%s", log.String())
		}
	})
}
