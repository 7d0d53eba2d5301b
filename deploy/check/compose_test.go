package check_test

import (
	"bufio"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
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
	for _, row := range strings.Split(string(page), "\n") {
		name := variable.FindString(row)
		known[name] = true
		if strings.HasSuffix(row, " Secret. |") {
			known[name+"_FILE"] = true
		}
	}
	if len(known) < 20 {
		t.Fatalf("docs/settings.md has %d variables, want 20 at least: it has changed its form", len(known))
	}
	return known
}

var variable = regexp.MustCompile(`\b(POSTRIDER_[A-Z0-9_]+|DATABASE_URL)\b`)

// Every variable that a file in deploy/ passes to Postrider is a setting of Postrider.
func TestDeployedVariablesAreSettings(t *testing.T) {
	t.Parallel()
	known := settings(t)
	for _, file := range []string{"../docker/Dockerfile", "../docker/compose.yaml", "../docker/compose.dev.yaml",
		"../package/postrider.env", "../systemd/postrider.service", "../helm/postrider/values.yaml"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range variable.FindAllString(string(content), -1) {
			if !known[name] && name != "POSTRIDER_VERSION" { // a variable of Compose
				t.Errorf("%s names %s, which docs/settings.md does not have", file, name)
			}
		}
	}
}

// loadCompose loads a Compose file with the environment that .env contains.
func loadCompose(t *testing.T, file string, env ...string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{file}, cli.WithName("postrider"), cli.WithEnv(env))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(t.Context())
}

// In production, the URL is the only variable, secrets are in files, and programs can reach every port.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	const file = "../docker/compose.yaml"
	if _, err := loadCompose(t, file); err == nil || !strings.Contains(err.Error(), "POSTRIDER_BASE_URL") {
		t.Errorf("without .env the file loads with %v, want an error that names POSTRIDER_BASE_URL", err)
	}
	project, err := loadCompose(t, file, "POSTRIDER_BASE_URL=https://mail.example.com")
	if err != nil {
		t.Fatal(err)
	}
	judgeDatabase(t, project)
	service := project.Services["postrider"]
	if !service.ReadOnly || !slices.Equal(service.CapDrop, []string{"ALL"}) || service.StopGracePeriod == nil {
		t.Errorf("the service is not hardened, or has no time to stop: %+v", service)
	}
	for name, want := range map[string]string{"POSTRIDER_MASTER_KEY_FILE": "master_key",
		"POSTRIDER_DATABASE_PASSWORD_FILE": "postgres_password"} {
		mounted := slices.ContainsFunc(service.Secrets,
			func(s types.ServiceSecretConfig) bool { return s.Source == want })
		if value := service.Environment[name]; value == nil || *value != "/run/secrets/"+want || !mounted {
			t.Errorf("%s is not the mounted secret %s", name, want)
		}
	}
	if got := project.Services["postgres"].Environment["POSTGRES_PASSWORD_FILE"]; got == nil ||
		*got != "/run/secrets/postgres_password" {
		t.Error("postgres has another password")
	}
	ports := map[string]uint32{}
	for _, p := range service.Ports {
		ports[p.Published] = p.Target
	}
	for published, target := range map[string]uint32{"80": 8080, "443": 8443, "25": 2525, "587": 2587, "465": 2465} {
		if ports[published] != target {
			t.Errorf("port %s leads to %d, want %d", published, ports[published], target)
		}
	}
}

func TestComposeFileForDevelopment(t *testing.T) {
	t.Parallel()
	project, err := loadCompose(t, "../docker/compose.dev.yaml")
	if err != nil {
		t.Fatal(err)
	}
	judgeDatabase(t, project)
	service := project.Services["postrider"]
	if !slices.Equal(service.Command, []string{"dev"}) {
		t.Errorf("the command is %q, want dev", service.Command)
	}
	for _, p := range service.Ports {
		if p.HostIP != "127.0.0.1" {
			t.Errorf("port %s is open to %q, want 127.0.0.1: development mode shows all mail", p.Published, p.HostIP)
		}
	}
}

func judgeDatabase(t *testing.T, project *types.Project) {
	t.Helper()
	postgres := project.Services["postgres"]
	if postgres.Image != "postgres:17" || postgres.HealthCheck == nil || len(postgres.Volumes) != 1 ||
		postgres.Volumes[0].Type != "volume" {
		t.Errorf("postgres has the image %s, want postgres:17 with a health check and a named volume", postgres.Image)
	}
	if wait := project.Services["postrider"].DependsOn["postgres"].Condition; wait != "service_healthy" {
		t.Errorf("postrider starts when postgres is %q, want service_healthy", wait)
	}
}
