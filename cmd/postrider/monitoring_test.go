package main

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"testing"

	"gopkg.in/yaml.v3"

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
	read(t, "grafana.json", json.Unmarshal, &dashboard)
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			collect("grafana.json", target.Expr)
		}
	}
	var alerts struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	read(t, "alerts.yml", yaml.Unmarshal, &alerts)
	for _, group := range alerts.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" || rule.Expr == "" {
				t.Errorf("alerts.yml has a rule without a name or an expression: %+v", rule)
			}
			collect("alerts.yml", rule.Expr)
		}
	}
	if len(used) < 15 {
		t.Fatalf("found %d metrics in dashboard and alerts, want at least 15: the format of the files has changed",
			len(used))
	}
	service := launchProcess(t, t.TempDir())
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
