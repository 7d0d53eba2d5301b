package resend

import (
	"net/http"
	"strings"

	"github.com/postrider/postrider/rest/compat"
)

func suppressionRoutes() []compat.Route {
	return []compat.Route{
		{Method: http.MethodPost, Path: "/suppressions", Handle: addSuppression},
		{Method: http.MethodGet, Path: "/suppressions", Handle: listSuppressions},
		{Method: http.MethodPost, Path: "/suppressions/batch/add", Handle: addSuppressions},
		{Method: http.MethodPost, Path: "/suppressions/batch/remove", Handle: removeSuppressions},
		{Method: http.MethodGet, Path: "/suppressions/{id}", Handle: getSuppression},
		{Method: http.MethodDelete, Path: "/suppressions/{id}", Handle: removeSuppression},
	}
}

// suppression is a suppression of our own API.
type suppression struct {
	ID        string  `json:"id"`
	Email     *string `json:"email"`
	EmailID   *string `json:"email_id"`
	Reason    string  `json:"reason"`
	CreatedAt string  `json:"created_at"`
}

type suppressionAnswer struct {
	Suppression suppression `json:"suppression"`
}

// origins maps our reasons to Resend's names. Resend has no name for an unsubscribe.
var origins = map[string]string{"bounce": "bounce", "failure": "bounce", "complaint": "complaint",
	"unsubscribe": "manual", "manual": "manual"}

type shownSuppression struct {
	Object    string  `json:"object,omitempty"`
	ID        string  `json:"id"`
	Email     *string `json:"email"`
	Origin    string  `json:"origin"`
	SourceID  *string `json:"source_id"`
	CreatedAt string  `json:"created_at"`
}

func (s suppression) show(object string) shownSuppression {
	return shownSuppression{Object: object, ID: s.ID, Email: s.Email, Origin: origins[s.Reason], SourceID: s.EmailID,
		CreatedAt: s.CreatedAt}
}

func addSuppression(c *compat.Call) (*compat.Response, error) {
	var in struct {
		Email string `json:"email"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	var made suppressionAnswer
	if err := c.Do(compat.Request{Method: http.MethodPost, Path: "/suppressions", Body: in,
		Key: c.Header("Idempotency-Key")}, &made); err != nil {
		return nil, err
	}
	return compat.OK(object{Object: "suppression", ID: made.Suppression.ID})
}

func listSuppressions(c *compat.Call) (*compat.Response, error) {
	origin := c.Query.Get("origin")
	var keep func(suppression) bool
	switch origin {
	case "":
	case "bounce", "complaint", "manual":
		keep = func(s suppression) bool { return origins[s.Reason] == origin }
	default:
		return nil, compat.Invalid("origin", "must be one of bounce, complaint, manual")
	}
	return answerList(c, compat.ListRequest{Path: "/suppressions", Member: "suppressions", Name: "suppressions"},
		func(s suppression) string { return s.ID }, keep, func(s suppression) shownSuppression { return s.show("") })
}

func findSuppression(c *compat.Call) (suppression, error) {
	var found suppressionAnswer
	err := c.Do(compat.Request{Method: http.MethodGet, Path: joinPath("suppressions", c.Param("id"))}, &found)
	return found.Suppression, err
}

func getSuppression(c *compat.Call) (*compat.Response, error) {
	found, err := findSuppression(c)
	if err != nil {
		return nil, err
	}
	return compat.OK(found.show("suppression"))
}

// removeSuppression returns the ID, even if the path contains the address.
func removeSuppression(c *compat.Call) (*compat.Response, error) {
	found, err := findSuppression(c)
	if err != nil {
		return nil, err
	}
	if err := c.Do(compat.Request{Method: http.MethodDelete, Path: joinPath("suppressions", found.ID)},
		nil); err != nil {
		return nil, err
	}
	return answerDeleted("suppression", found.ID)
}

// batchAnswer is the response of our own API to a batch of suppressions.
type batchAnswer struct {
	Data []batchItem `json:"data"`
}

// failures describes the refused items, or returns "" if there are none.
func (a batchAnswer) failures(names []string) string {
	var wrong []string
	for _, item := range a.Data {
		if item.Error != nil && item.Index < len(names) {
			wrong = append(wrong, names[item.Index]+": "+compat.Describe(item.Error.Message, item.Error.Details))
		}
	}
	return strings.Join(wrong, "; ")
}

func addSuppressions(c *compat.Call) (*compat.Response, error) {
	var in struct {
		Emails []string `json:"emails"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if in.Emails == nil {
		in.Emails = []string{}
	}
	var done batchAnswer
	if err := c.Do(compat.Request{Method: http.MethodPost, Path: "/suppressions/batch", Body: in,
		Key: c.Header("Idempotency-Key")}, &done); err != nil {
		return nil, err
	}
	if wrong := done.failures(in.Emails); wrong != "" {
		return nil, compat.Invalid("emails", "were added except these: %s", wrong)
	}
	out := []object{}
	for _, item := range done.Data {
		if item.ID != nil {
			out = append(out, object{Object: "suppression", ID: *item.ID})
		}
	}
	return compat.OK(map[string]any{"data": out})
}

// mostRemoved is Resend's limit for a batch.
const mostRemoved = 100

func removeSuppressions(c *compat.Call) (*compat.Response, error) {
	var in struct {
		Emails []string `json:"emails,omitempty"`
		IDs    []string `json:"ids,omitempty"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	switch {
	case len(in.Emails) > 0 && len(in.IDs) > 0:
		return nil, compat.Invalid("ids", "cannot be combined with emails")
	case len(in.Emails)+len(in.IDs) == 0 || len(in.Emails)+len(in.IDs) > mostRemoved:
		return nil, compat.Invalid("emails", "must have between 1 and %d entries", mostRemoved)
	}
	var done batchAnswer
	if err := c.Do(compat.Request{Method: http.MethodPost, Path: "/suppressions/batch/delete", Body: in,
		Key: c.Header("Idempotency-Key")}, &done); err != nil {
		return nil, err
	}
	if wrong := done.failures(in.Emails); wrong != "" {
		return nil, compat.Invalid("emails", "were removed except these: %s", wrong)
	}
	out := []object{}
	for _, item := range done.Data {
		if item.ID != nil {
			yes := true
			out = append(out, object{Object: "suppression", ID: *item.ID, Deleted: &yes})
		}
	}
	return compat.OK(map[string]any{"data": out})
}
