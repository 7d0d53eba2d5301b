package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Secrets can be in files. A password in a file completes the database URLs without one.
func TestSecretsAreReadFromFiles(t *testing.T) {
	t.Parallel()
	const awkward = `p&a?s=s' w\ö%23`
	password := writeFile(t, "password", awkward+"\n")
	for name, given := range map[string]setting.RawValues{
		"a URL":                {"DATABASE_URL": "postgres://u@db:5432/d"},
		"a URL with a query":   {"DATABASE_URL": "postgres://u@db/d?sslmode=disable"},
		"several hosts":        {"DATABASE_URL": "postgres://u@db1,db2/d?port=5432,5433"},
		"keys and values":      {"DATABASE_URL": "host=db user=u dbname=d"},
		"a URL in a file":      {"DATABASE_URL_FILE": writeFile(t, "url", "postgres://u@db/d\r\n")},
		"a file with settings": {"POSTRIDER_CONFIG": writeFile(t, "postrider.yaml", "database_url: postgres://u@db/d\n")},
	} {
		given["POSTRIDER_DATABASE_PASSWORD_FILE"] = password
		loaded, err := config.Load(setting.Tool, "", given)
		if err != nil {
			t.Errorf("Load with %s returned %v", name, err)
			continue
		}
		got, err := pq.NewConfig(config.DatabaseURL.Get(loaded).Reveal())
		if err != nil || got.Password != awkward || got.User != "u" || got.Database != "d" {
			t.Errorf("%s has user %q, database %q and password %q (%v), want u, d and %q", name, got.User, got.Database,
				got.Password, err, awkward)
		}
	}
	loaded, err := config.Load(setting.Tool, "", setting.RawValues{"DATABASE_URL": "postgres://u:own@db/d",
		"POSTRIDER_CONFIG": writeFile(t, "postrider.yaml", "database_password_file: "+password+"\n")})
	if err != nil || config.DatabaseURL.Get(loaded).Reveal() != "postgres://u:own@db/d" {
		t.Errorf("a URL with a password has another one now (%v)", err)
	}
}

func TestSecretFilesOfTheEnvironmentOverrideTheConfigurationFile(t *testing.T) {
	t.Parallel()
	url := writeFile(t, "url", "postgres://environment@db/d")
	for _, given := range []setting.RawValues{
		{"DATABASE_URL_FILE": url, "POSTRIDER_CONFIG": writeFile(t, "a.yaml", "database_url: postgres://file@db/d\n")},
		{"DATABASE_URL": "postgres://environment@db/d",
			"POSTRIDER_CONFIG": writeFile(t, "b.yaml", "database_url_file: /missing\n")},
	} {
		loaded, err := config.Load(setting.Tool, "", given)
		if err != nil || !strings.Contains(config.DatabaseURL.Get(loaded).Reveal(), "environment") {
			t.Errorf("the settings %v have the error %v, want the URL of the environment", given, err)
		}
	}
}

func TestUnreadableSecretFilesAreRejected(t *testing.T) {
	t.Parallel()
	url := writeFile(t, "url", "postgres://u:hush@db/d")
	for want, given := range map[string]setting.RawValues{
		"DATABASE_URL_FILE cannot be read: ":                  {"DATABASE_URL_FILE": url + "x"},
		"DATABASE_URL_FILE names an empty file: ":             {"DATABASE_URL_FILE": writeFile(t, "empty", "\n")},
		"DATABASE_URL_FILE cannot be combined with DATABASE_": {"DATABASE_URL_FILE": url, "DATABASE_URL": "postgres://u@db/d"},
		"POSTRIDER_DATA_DIR_FILE is not a setting":            {"POSTRIDER_DATA_DIR_FILE": url},
		"POSTRIDER_DATABASE_PASSWORD requires DATABASE_URL":   {"POSTRIDER_DATABASE_PASSWORD": "hush"},
	} {
		_, err := config.Load(setting.Tool, "", given)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("the settings have the error %v, want %q without the secret", err, want)
		}
	}
}

// A container's name is not a DNS name, so the base URL alone is enough.
func TestHostnameNeedsADomain(t *testing.T) {
	t.Parallel()
	for machine, want := range map[string]string{"3f2a9c1b7d5e": "mail.example.com", "": "mail.example.com",
		"mx1.example.net": "mx1.example.net"} {
		loaded, err := config.Load(setting.Tool, machine, setting.RawValues{"POSTRIDER_BASE_URL": "https://mail.example.com"})
		if err != nil {
			t.Fatal(err)
		}
		if got := config.Hostname.Get(loaded); got != want {
			t.Errorf("on the machine %q the host name is %s, want %s", machine, got, want)
		}
	}
}
