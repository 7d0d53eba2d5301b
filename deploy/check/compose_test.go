package check_test

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

func newReader(s string) *bufio.Reader { return bufio.NewReader(strings.NewReader(s)) }

// settings are the names of the variables in docs/settings.md.
func settings(t *testing.T) map[string]bool {
	t.Helper()
	page, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range variable.FindAllString(string(page), -1) {
		known[name] = true
	}
	if len(known) < 20 {
		t.Fatalf("docs/settings.md has %d variables, want 20 at least: it has changed its form", len(known))
	}
	return known
}

var variable = regexp.MustCompile(`\b(POSTRIDER_[A-Z0-9_]+|DATABASE_URL)\b`)

// Every variable that a file of deploy/ gives to Postrider is a setting of Postrider.
func TestDeployedVariablesAreSettings(t *testing.T) {
	t.Parallel()
	known := settings(t)
	for _, file := range []string{"../docker/Dockerfile", "../docker/compose.yaml", "../docker/compose.submission.yaml",
		"../package/postrider.env", "../systemd/postrider.service", "../helm/postrider/values.yaml"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range variable.FindAllString(string(content), -1) {
			if !known[name] {
				t.Errorf("%s names %s, which docs/settings.md does not have", file, name)
			}
		}
	}
}

func TestComposeFile(t *testing.T) {
	t.Parallel()
	files := []string{"../docker/compose.yaml"}
	load := func(env ...string) (services map[string]map[string]string, err error) {
		options, err := cli.NewProjectOptions(files, cli.WithName("postrider"), cli.WithEnv(env))
		if err != nil {
			return nil, err
		}
		project, err := options.LoadProject(t.Context())
		if err != nil {
			return nil, err
		}
		services = map[string]map[string]string{}
		for name, service := range project.Services {
			services[name] = map[string]string{}
			for key, value := range service.Environment {
				services[name][key] = *value
			}
		}
		if wait := project.Services["postrider"].DependsOn["postgres"].Condition; wait != "service_healthy" {
			t.Errorf("postrider starts when postgres is %q, want service_healthy", wait)
		}
		if project.Services["postgres"].HealthCheck == nil {
			t.Error("postgres has no health check")
		}
		return services, nil
	}
	all := []string{"POSTRIDER_BASE_URL=https://mail.example.com", "POSTRIDER_MASTER_KEY=k", "POSTGRES_PASSWORD=pw"}
	services, err := load(all...)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := services["postrider"]["DATABASE_URL"],
		"postgres://postrider:pw@postgres:5432/postrider?sslmode=disable"; got != want {
		t.Errorf("DATABASE_URL is %q, want %q", got, want)
	}
	if services["postgres"]["POSTGRES_PASSWORD"] != "pw" {
		t.Errorf("postgres has another password: %v", services["postgres"])
	}
	if got := services["postrider"]["POSTRIDER_RELAY_ADDR"]; got != "" {
		t.Errorf("the relay listens at %s without a certificate, with which it does not start", got)
	}
	files, all = append(files, "../docker/compose.submission.yaml"), append(all, "POSTRIDER_HOSTNAME=mx.example.com")
	if services, err = load(all...); err != nil {
		t.Fatal(err)
	}
	if got := services["postrider"]; got["POSTRIDER_RELAY_ADDR"] != ":2587" || got["POSTRIDER_SMTP_TLS_CERT"] == "" ||
		got["DATABASE_URL"] == "" {
		t.Errorf("with compose.submission.yaml the service has %v, want the relay, its certificate and all of compose.yaml", got)
	}
	for i, left := range all {
		name, _, _ := strings.Cut(left, "=")
		missing := append(append([]string{}, all[:i]...), all[i+1:]...)
		if _, err := load(missing...); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s the file loads with %v, want an error that names it", name, err)
		}
	}
}
