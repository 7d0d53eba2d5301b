package journeys_test

import (
	"net/http"
	"testing"

	"github.com/postrider/postrider/modules/accounts/moves"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/ops/transfer"
)

// In a real browser: people of an account that has moved learn where it is, and can use their other accounts.
func TestAMovedAccountInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	app := startCaptured(t, func(s setting.RawValues) { s["POSTRIDER_MASTER_KEY"] = sourceKey })
	owner := signInOwner(t, app)
	invite(t, app, owner, "viewer")
	wantAnswer(t, "creating another account", owner.Do(t, http.MethodPost, "/api/accounts", asked{"name": "Second"}),
		http.StatusOK)
	moveOut(t, app)
	withStoreOf(t, app, sourceKey, func(s *store.Store, _ transfer.Options) {
		if _, err := moves.Finish(t.Context(), s.DB, app.AccountID, "https://new.example.com", false); err != nil {
			t.Fatal(err)
		}
	})
	runScript(t, app, "moved.mjs", "MEMBER=bob@example.com", "MEMBER_PASSWORD="+bobsPassword)
}
