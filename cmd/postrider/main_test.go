package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/postrider/postrider/runtime/db/dbtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"postrider": main})
}

// Those under testdata/database each have one of their own.
func TestCommandLineWithADatabase(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/database", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("DATABASE_URL", dbtest.URL(t))
			return nil
		}})
}

// One file under testdata/script is one behaviour of the command line. None of
// them needs a database.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true})
}
