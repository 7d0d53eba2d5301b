package requests

import (
	"context"
	"net/http"
	"strings"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/apilog"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Service is the part of apilog that the operations use.
type Service interface {
	List(ctx context.Context, accountID string, f apilog.Filter, r page.Request) (page.Page[apilog.LoggedRequest], error)
	Get(ctx context.Context, accountID, id string) (apilog.LoggedRequest, error)
}

var _ Service = (*apilog.Service)(nil)

type record struct {
	ID             string    `json:"id" doc:"The X-Request-Id of the response. It is not unique if a client sends the same X-Request-Id more than once." example:"req_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Method         string    `json:"method" doc:"The HTTP method of the request." example:"POST"`
	Path           string    `json:"path" doc:"The path without the query." example:"/api/emails"`
	Operation      string    `json:"operation" doc:"The operation ID in this document." example:"sendEmail"`
	Status         int       `json:"status" doc:"The HTTP status of the response." example:"200"`
	DurationMS     int       `json:"duration_ms" doc:"How long the request took, in milliseconds." example:"12"`
	APIKeyID       *string   `json:"api_key_id" doc:"ID of the API key; null if a person made the request." example:"key_01kf0m4w7he6x8q2v5b3n9c1ta"`
	UserID         *string   `json:"user_id" doc:"ID of the person; null if an API key made the request." example:"usr_01kf0m4w7he6x8q2v5b3n9c1ta"`
	IP             string    `json:"ip" doc:"The IP address of the client." example:"192.0.2.7"`
	RequestBody    string    `json:"request_body" doc:"The first 4 KB of the request body, without secrets and attachment contents. Ends with …[cut] if it was longer. Empty if there was none or it is not stored."`
	RequestOctets  int64     `json:"request_octets" doc:"Size of the whole request body in bytes."`
	ResponseBody   string    `json:"response_body" doc:"The response body, shortened like request_body; a body that is not JSON is replaced by its type in brackets."`
	ResponseOctets int64     `json:"response_octets" doc:"Size of the whole response body in bytes."`
	EmailID        *string   `json:"email_id" doc:"The email that the request created or concerns." example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta"`
	CreatedAt      wire.Time `json:"created_at" doc:"When the request was received."`
}

type answer struct {
	Request record `json:"request" doc:"The request, with its body and response."`
}

type input struct {
	api.Page

	Method      string `query:"method" doc:"Only these methods, separated by commas." example:"POST,PATCH"`
	Path        string `query:"path" doc:"Only paths with this prefix." example:"/api/emails"`
	StatusFrom  int    `query:"status_from" minimum:"100" maximum:"600" doc:"Only this status or higher." example:"400"`
	StatusBelow int    `query:"status_below" minimum:"100" maximum:"600" doc:"Only statuses lower than this." example:"500"`
	APIKeyID    string `query:"api_key_id" doc:"Only requests with this key." example:"key_01kf0m4w7he6x8q2v5b3n9c1ta"`
	UserID      string `query:"user_id" doc:"Only requests of this user." example:"usr_01kf0m4w7he6x8q2v5b3n9c1ta"`
	RequestID   string `query:"request_id" doc:"Only requests with this ID." example:"req_01kf0m4w7he6x8q2v5b3n9c1ta"`
	EmailID     string `query:"email_id" doc:"Only requests that created or concern this email." example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Since       string `query:"since" format:"date-time" doc:"Only requests at or after this time."`
	Until       string `query:"until" format:"date-time" doc:"Only requests before this time."`
}

func (in *input) toFilter() (f apilog.Filter, err error) {
	wrong := fault.Fields{}
	f = apilog.Filter{PathPrefix: in.Path, StatusFrom: in.StatusFrom, StatusBelow: in.StatusBelow,
		APIKeyID: in.APIKeyID, UserID: in.UserID, RequestID: in.RequestID, EmailID: in.EmailID}
	if in.Method != "" {
		f.Methods = strings.Split(in.Method, ",")
	}
	if since := api.QueryTime(wrong, "since", in.Since); since != nil {
		f.Since = *since
	}
	if until := api.QueryTime(wrong, "until", in.Until); until != nil {
		f.Until = *until
	}
	return f, wrong.Err()
}

const about = "API requests of keys and users in the last seven days, with their responses. At high volume, " +
	"failed requests are kept in preference to successful ones. Passwords, tokens, keys and attachment contents " +
	"are never included."

// Routes returns the routes of the log.
func Routes(service Service) api.Routes {
	return api.NewRoutes("requests", func(a *api.API) {
		g := a.Tag("API requests", about)
		api.ListBy(g, api.Operation{
			Path: "/requests", ID: "listAPIRequests", Needs: rights.Read, Unlogged: true, Summary: "List API requests",
			Description: "Lists API requests, newest first. A request appears about a second after its response. " +
				"Requests refused with 401 are not listed, because they belong to no account.",
			Example: exampleRequest(),
		}, api.Plural{Member: "requests", Schema: "APIRequestList"},
			func(ctx context.Context, c *api.Call, in *input) (page.Page[apilog.LoggedRequest], error) {
				f, err := in.toFilter()
				if err != nil {
					return page.Page[apilog.LoggedRequest]{}, err
				}
				return service.List(ctx, c.AccountID, f, in.Request())
			}, newRecord)
		api.Get(g, api.Operation{
			Path: "/requests/{id}", ID: "getAPIRequest", Needs: rights.Read, Unlogged: true,
			Summary:     "Retrieve an API request",
			Description: "Returns the newest request with the ID.",
			Of: api.Noun{Name: "API request", About: "The X-Request-Id of its response.", Example: exampleID,
				Is: apilog.IsID},
			Example: map[string]any{"request": exampleRequest()},
		}, service.Get, func(r apilog.LoggedRequest) answer { return answer{newRecord(r)} })
	})
}

func newRecord(r apilog.LoggedRequest) record {
	return record{ID: r.ID, Method: r.Method, Path: r.Path, Operation: r.Operation, Status: r.Status,
		DurationMS: r.DurationMS, APIKeyID: wire.OrNull(r.APIKeyID),
		UserID: wire.OrNull(r.UserID), IP: r.IP, RequestBody: r.RequestBody, RequestOctets: r.RequestOctets,
		ResponseBody:   r.ResponseBody,
		ResponseOctets: r.ResponseOctets, EmailID: wire.OrNull(r.EmailID), CreatedAt: wire.Time(r.CreatedAt)}
}

const exampleID = "req_01kf0m4w7he6x8q2v5b3n9c1ta"

func exampleRequest() map[string]any {
	return map[string]any{"id": exampleID, "method": http.MethodPost, "path": "/api/emails", "operation": "sendEmail",
		"status": 200, "duration_ms": 12,
		"api_key_id": "key_01kf0m4w7he6x8q2v5b3n9c1ta", "user_id": nil, "ip": "192.0.2.7",
		"request_body":   `{"from":"ada@example.com","to":"bob@example.net","subject":"Hi","text":"Hello"}`,
		"request_octets": 79, "response_body": `{"id":"msg_01kf0m4w7he6x8q2v5b3n9c1ta","status":"sent"}`,
		"response_octets": 56, "email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta",
		"created_at": "2026-01-15T09:30:00.000Z"}
}
