package automations

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/rest"
)

func (e *edge) activation(g *rest.Group) {
	rest.OnceBody(g, rest.Operation{
		Path: "/automations/{id}", ID: "actOnAutomation", Needs: accounts.Write,
		Summary: "Activate, pause, archive or duplicate an automation",
		Description: "`activate` makes the draft the next version, which starts runs from now on, or goes back to an earlier `version`; live runs keep theirs, and go on if they were held. " +
			"400 with the problems of the check, 409 where there is nothing new. `pause` starts nothing more. `archive` also cancels the live runs, in the background. `duplicate` makes " +
			"a new draft, which is the answer. An account can have 200 active ones.",
		Body: &rest.Body{About: "What to do.", Examples: map[string]any{
			"activate": map[string]any{"action": "activate"}, "back": map[string]any{"action": "activate", "version": 1}, "pause": map[string]any{"action": "pause", "runs": "continue"}}},
		Example: map[string]any{"automation": example()}, Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: automation,
	}, actionBody, e.act)
}

func (e *edge) act(ctx context.Context, c *rest.Call, in *rest.Item, a action, keep rest.Keep) (automationAnswer, error) {
	keeping := rest.Keeping(keep, newAnswer)
	switch a.Action {
	case actionActivate:
		return rest.As(newAnswer)(e.service.Activate(ctx, c.Caller, in.ID, automations.Activation{Version: a.earlier(), Keep: keeping}))
	case actionPause:
		return rest.As(newAnswer)(e.service.Pause(ctx, c.AccountID, in.ID, a.Runs != runsContinue, keeping))
	case actionArchive:
		return rest.As(newAnswer)(e.service.Archive(ctx, c.AccountID, in.ID, keeping))
	default:
		return rest.As(newAnswer)(e.service.Duplicate(ctx, c.AccountID, in.ID, keeping))
	}
}
