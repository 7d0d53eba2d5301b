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
	Automation     automationRecord `json:"automation" doc:"The automation after the action."`
	HeldRuns       *int             `json:"held_runs,omitempty" doc:"For pause, the number of live runs that are held. For activate, the number of held runs that continue."`
	CancellingRuns *int             `json:"cancelling_runs,omitempty" doc:"Number of live runs that are being cancelled in the background. None of their steps will start."`
}

func newActionAnswer(a automations.ActionResult) actionAnswer {
	return actionAnswer{newRecord(a.Automation), a.Held, a.Cancelling}
}

func newCopy(a *ent.Automation) actionAnswer { return actionAnswer{Automation: newRecord(a)} }

func (e *edge) addActivation(g *api.TagGroup) {
	api.OnceBody(g, api.Operation{
		Path: "/automations/{id}", ID: "actOnAutomation", Needs: rights.Write, Stores: api.StoresNothing,
		Summary: "Activate, pause, archive or duplicate an automation",
		Description: "Activates, pauses, archives or duplicates an automation. `activate` publishes the draft as " +
			"the next version, which starts new runs, or returns to an earlier `version`. Live runs keep their " +
			"version and continue if they were held. It fails with 400 if the check finds errors, and with 409 if " +
			"nothing has changed. `pause` starts no new runs. `archive` also cancels live runs. `duplicate` returns " +
			"a new draft. Runs are released and cancelled in the background, as `draining` shows. An account can " +
			"have up to 200 active automations.",
		Body: &api.Body{About: "The action.", Examples: map[string]any{
			"activate": map[string]any{"action": "activate"},
			"back":     map[string]any{"action": "activate", "version": 1}, "pause": map[string]any{"action": "pause", "runs": "continue"}}},
		Example:  map[string]any{"automation": exampleAutomation()},
		Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: OfAutomation,
	}, actionBody, e.runAction)
}

func (e *edge) runAction(ctx context.Context, c *api.Call, in *api.Item, a action,
	keep api.StoreResponse) (actionAnswer, error) {
	keeping := api.AdaptStore(keep, newActionAnswer)
	switch a.Action {
	case actionActivate:
		if err := c.Charge(ctx, storage.RowBytes); err != nil {
			return actionAnswer{}, err
		}
		done, err := e.service.Activate(ctx, c.Caller, in.ID,
			automations.Activation{Version: a.earlierVersion(), Cancel: a.Runs == runsCancel, Keep: keeping})
		if err == nil && a.earlierVersion() == 0 { // the version is a copy of the draft
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
		made, err := e.service.Duplicate(ctx, c.AccountID, in.ID, api.AdaptStore(keep, newCopy))
		if err != nil {
			return actionAnswer{}, err
		}
		c.Debit(ctx, len(made.Draft))
		return newCopy(made), nil
	}
}
