package automations

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/rest/api"
)

type actionAnswer struct {
	Automation     automationRecord `json:"automation"`
	HeldRuns       *int             `json:"held_runs,omitempty" doc:"With pause: live runs in which no step begins. With activate: those for which that was so, and which go on."`
	CancellingRuns *int             `json:"cancelling_runs,omitempty" doc:"Live runs that are cancelled in the background; no step of them begins any more."`
}

func newActionAnswer(a automations.Acted) actionAnswer {
	return actionAnswer{newRecord(a.Automation), a.Held, a.Cancelling}
}

func newCopy(a *ent.Automation) actionAnswer { return actionAnswer{Automation: newRecord(a)} }

func (e *edge) activation(g *api.Group) {
	api.OnceBody(g, api.Operation{
		Path: "/automations/{id}", ID: "actOnAutomation", Needs: rights.Write, Stores: api.StoresNothing,
		Summary: "Activate, pause, archive or duplicate an automation",
		Description: "`activate` makes the draft the next version, which starts runs from now on, or goes back to an earlier `version`; live runs keep theirs, and go on if they were held. " +
			"400 with the problems of the check, 409 where there is nothing new. `pause` starts nothing more. `archive` also cancels the live runs. `duplicate` makes " +
			"a new draft, which is the answer. Runs are let go and cancelled in the background: `draining` says so while it lasts. An account can have 200 active ones.",
		Body: &api.Body{About: "What to do.", Examples: map[string]any{
			"activate": map[string]any{"action": "activate"}, "back": map[string]any{"action": "activate", "version": 1}, "pause": map[string]any{"action": "pause", "runs": "continue"}}},
		Example: map[string]any{"automation": example()}, Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: OfAutomation,
	}, actionBody, e.act)
}

func (e *edge) act(ctx context.Context, c *api.Call, in *api.Item, a action, keep api.Keep) (actionAnswer, error) {
	keeping := api.Keeping(keep, newActionAnswer)
	switch a.Action {
	case actionActivate:
		if err := c.Charge(ctx, storage.RowBytes); err != nil {
			return actionAnswer{}, err
		}
		done, err := e.service.Activate(ctx, c.Caller, in.ID, automations.Activation{Version: a.earlier(), Cancel: a.Runs == runsCancel, Keep: keeping})
		if err == nil && a.earlier() == 0 { // the version is a copy of the draft
			c.Debit(ctx, len(done.Automation.Draft))
		}
		return api.As(newActionAnswer)(done, err)
	case actionPause:
		return api.As(newActionAnswer)(e.service.Pause(ctx, c.AccountID, in.ID, a.Runs != runsContinue, keeping))
	case actionArchive:
		return api.As(newActionAnswer)(e.service.Archive(ctx, c.AccountID, in.ID, keeping))
	default:
		if err := c.Charge(ctx, storage.RowBytes); err != nil {
			return actionAnswer{}, err
		}
		made, err := e.service.Duplicate(ctx, c.AccountID, in.ID, api.Keeping(keep, newCopy))
		if err != nil {
			return actionAnswer{}, err
		}
		c.Debit(ctx, len(made.Draft))
		return newCopy(made), nil
	}
}
