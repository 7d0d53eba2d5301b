package main

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/postrider/postrider/runtime/base/expect"
)

// A running Postrider that has delivered one email serves every metric of the dashboard and the alert rules.
func TestDashboardAndAlertMetricsExist(t *testing.T) {
	t.Parallel()
	used := map[string]string{}
	name := regexp.MustCompile(`\b(postrider|process|go)_[a-z0-9_]+`)
	collect := func(file, expression string) {
		for _, metric := range name.FindAllString(expression, -1) {
			used[metric] = file
		}
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	for _, file := range []string{"grafana-operator.json", "grafana-sender.json"} {
		dashboard.Panels = nil
		read(t, file, json.Unmarshal, &dashboard)
		for _, panel := range dashboard.Panels {
			for _, target := range panel.Targets {
				collect(file, target.Expr)
			}
		}
	}
	var alerts alertRules
	read(t, "alerts.yml", yaml.Unmarshal, &alerts)
	for _, group := range alerts.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" || rule.Expr == "" {
				t.Errorf("alerts.yml has a rule without a name or an expression: %+v", rule)
			}
			collect("alerts.yml", rule.Expr)
		}
	}
	// TestFindingsAreLoggedAndReportedByReadyz covers the metrics that only production has.
	delete(used, "postrider_doctor_check")
	delete(used, "postrider_doctor_findings")
	if len(used) < 15 {
		t.Fatalf("found %d metrics in dashboard and alerts, want at least 15: the format of the files has changed",
			len(used))
	}
	service := launchProcess(t, t.TempDir(), "--backup-dir="+t.TempDir())
	service.send(t, "for the metrics", "")
	var missing []string
	found := func() bool {
		_, served := service.do(t, http.MethodGet, "/metrics", "", "")
		missing = nil
		for metric := range used {
			family := suffix.ReplaceAllString(metric, "")
			if !regexp.MustCompile(`(?m)^# TYPE (` + metric + `|` + family + `) `).MatchString(served) {
				missing = append(missing, metric)
			}
		}
		return len(missing) == 0
	}
	defer func() {
		for _, metric := range missing {
			t.Errorf("%s uses %s, which a running Postrider does not serve", used[metric], metric)
		}
	}()
	expect.Eventually(t, "all metrics of dashboard and alerts to be served", found)
	service.judgeSeries(t)
}

// alertRules is the part of alerts.yml that the tests read.
type alertRules struct {
	Groups []struct {
		Rules []struct{ Alert, Expr string }
	}
}

// deploy/test/files runs alerts_test.yml with promtool. Here, every alert has a moment in it at which it fires, and
// one at which it does not.
func TestEveryAlertHasATest(t *testing.T) {
	t.Parallel()
	var alerts alertRules
	read(t, "alerts.yml", yaml.Unmarshal, &alerts)
	var tests struct {
		Tests []struct {
			Moments []struct {
				Name    string           `yaml:"alertname"`
				Expects []map[string]any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	read(t, "alerts_test.yml", yaml.Unmarshal, &tests)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		for _, moment := range test.Moments {
			fires[moment.Name] = fires[moment.Name] || len(moment.Expects) > 0
			silent[moment.Name] = silent[moment.Name] || len(moment.Expects) == 0
		}
	}
	rules := 0
	for _, group := range alerts.Groups {
		for _, rule := range group.Rules {
			rules++
			if !fires[rule.Alert] || !silent[rule.Alert] {
				t.Errorf("%s: alerts_test.yml has a moment at which it fires: %t, at which it does not: %t; want both",
					rule.Alert, fires[rule.Alert], silent[rule.Alert])
			}
		}
	}
	if rules < 29 {
		t.Errorf("found %d alert rules, want 29 at least: has the form of alerts.yml changed?", rules)
	}
}

// maxSeries is how many metric series a process may serve after requests to every route.
const maxSeries = 1200

// judgeSeries sends requests with four different outcomes to every operation of the API, and counts the metric
// series.
func (p *process) judgeSeries(t *testing.T) {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	_, content := p.do(t, http.MethodGet, "/api/openapi.json", "", "")
	if err := json.Unmarshal([]byte(content), &document); err != nil {
		t.Fatal(err)
	}
	if len(document.Paths) < 80 {
		t.Fatalf("the API document has %d paths, want 80 at least: its form has changed", len(document.Paths))
	}
	for path, methods := range document.Paths {
		for method := range methods {
			if strings.HasSuffix(path, "/stream") || method == "parameters" {
				continue // a stream does not end
			}
			for _, key := range []string{p.APIKey, "svc_wrong"} {
				p.do(t, strings.ToUpper(method), path, key, "{}")
			}
			p.do(t, "PURGE", path, p.APIKey, "")
		}
	}
	_, served := p.do(t, http.MethodGet, "/metrics", "", "")
	series := 0
	for line := range strings.Lines(served) {
		if !strings.HasPrefix(line, "#") {
			series++
		}
	}
	const lanes, senders = 30 * 9, 40 * 3 // additional series of a process that handles a lot of mail
	if series+lanes+senders > maxSeries {
		t.Errorf("a process serves %d metric series, and up to %d of mail hosts and domains; want %d at most", series,
			lanes+senders, maxSeries)
	}
	t.Logf("%d metric series after requests to %d paths", series, len(document.Paths))
}

var suffix = regexp.MustCompile(`_(bucket|sum|count)$`)

func read(t *testing.T, file string, decode func([]byte, any) error, into any) {
	t.Helper()
	content, err := os.ReadFile("../../deploy/monitoring/" + file)
	if err == nil {
		err = decode(content, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
