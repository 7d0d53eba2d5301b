package main

import (
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

func TestMain(m *testing.M) {
	// The ACME authority of a test neither waits between its checks nor rejects nonces at random.
	for name, value := range map[string]string{"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"} {
		if err := os.Setenv(name, value); err != nil {
			log.Fatal(err)
		}
	}
	testscript.Main(m, map[string]func(){"postrider": main})
}

// Each script in testdata/database has its own database.
func TestCommandLineWithDatabase(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/database", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("DATABASE_URL", dbtest.URL(t))
			return nil
		}})
}

// Each file in testdata/script tests one behavior of the command line, without a database.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true})
}

// Each script in testdata/remote uses a running Postrider with an API key of an account.
func TestCommandLineWithServer(t *testing.T) {
	t.Parallel()
	runRemoteScripts(t, "testdata/remote")
}

// The sample templates of the manual are pushed and rendered as their readers do.
func TestSampleTemplates(t *testing.T) {
	t.Parallel()
	runRemoteScripts(t, "testdata/samples")
}

func TestStringsOfTemplates(t *testing.T) {
	t.Parallel()
	runRemoteScripts(t, "testdata/strings")
}

// In a real browser: the sample templates are built with the editor of the dashboard alone, and are the same as those
// made from the files.
func TestSampleTemplatesAreBuiltInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	app := harness.Start(t, nil)
	harness.Script(t, "samples.mjs", "LINK="+app.DashboardURL, "KEY="+app.APIKey, "EMAIL="+app.Owner.Email,
		"PASSWORD="+app.Owner.Password, "SAMPLES="+samplesFolder(t))
	runScripts(t, app, "testdata/editor", "OTHER_KEY", app.Stranger(t, "stranger").APIKey)
}

// runRemoteScripts runs the scripts of a folder with a Postrider of their own.
func runRemoteScripts(t *testing.T, folder string) {
	t.Helper()
	runScripts(t, harness.Start(t, nil), folder)
}

func samplesFolder(t *testing.T) string {
	t.Helper()
	samples, err := filepath.Abs("../../docs/mail-templates")
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

// runScripts runs the scripts of a folder with a Postrider, and more variables.
func runScripts(t *testing.T, app *harness.App, folder string, variables ...string) {
	t.Helper()
	testscript.Run(t, testscript.Params{Dir: folder, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("POSTRIDER_BASE_URL", app.BaseURL)
			e.Setenv("POSTRIDER_API_KEY", app.APIKey)
			e.Setenv("POSTRIDER_PROFILES", e.WorkDir+"/home/profiles.json")
			e.Setenv("SAMPLES", samplesFolder(t))
			for i := 0; i < len(variables); i += 2 {
				e.Setenv(variables[i], variables[i+1])
			}
			return nil
		}})
}
