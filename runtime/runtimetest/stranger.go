package runtimetest

import (
	"testing"

	"github.com/postrider/postrider/runtime/assembly"
	"github.com/postrider/postrider/runtime/config"
)

// Stranger makes another account of the given name on the same installation and
// gives the app as its full-scope key sees it. Only the first app is to be stopped.
func (a *App) Stranger(t testing.TB, name string) *App {
	t.Helper()
	settings := config.Settings{}
	settings.DatabaseURL, settings.DataDir = a.DatabaseURL, t.TempDir()
	cfg, err := config.Load(config.Tool, settings)
	if err != nil {
		t.Fatal(err)
	}
	other := *a
	other.AccountEmail = name + "@other.test"
	other.AccountID, err = assembly.CreateAccount(t.Context(), cfg, assembly.AccountInput{Name: name, Email: other.AccountEmail, Plan: "pro", Unmetered: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, other.APIKey, err = assembly.CreateKey(t.Context(), cfg, assembly.KeyInput{AccountID: other.AccountID, Name: name}); err != nil {
		t.Fatal(err)
	}
	return &other
}
