package journeys_test

import (
	"testing"

	"github.com/postrider/postrider/runtime/runtimetest"
)

// In a real browser: the link that `make run` prints, a passkey, a password, and every page by which
// people get in, judged by axe in both themes.
func TestPeopleGetInByABrowser(t *testing.T) {
	t.Parallel()
	app := runtimetest.Start(t, nil)
	runtimetest.Script(t, "people.mjs", "LINK="+app.DashboardURL, "EMAIL="+app.Owner.Email, "PASSWORD="+app.Owner.Password)
}
