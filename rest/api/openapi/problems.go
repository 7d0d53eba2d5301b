package openapi

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/rest/api/problem"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// problemDoc describes one status in the document.
type problemDoc struct {
	name        string // of the component
	description string
	retryAfter  bool
	example     problem.ProblemBody
}

var problemDocs = map[int]problemDoc{
	http.StatusBadRequest: {name: "BadRequest", description: "The request is wrong: invalid JSON, or missing, unknown or bad fields. `details` names them all.",
		example: problem.ProblemBody{Code: fault.CodeValidation, Message: "Invalid fields: from, to[1]",
			Details: map[string]any{"from": "is required", "to[1]": "must be a string or an object {email, name}, not a number"}}},
	http.StatusUnauthorized: {name: "Unauthorized", description: "The API key is missing, malformed, unknown, revoked or expired.",
		example: problem.ProblemBody{Message: "Unauthorized"}},
	http.StatusForbidden: {name: "Forbidden", description: "`insufficient_scope`: the key's scope does not allow the operation. When sending also `domain_not_verified`: `from` is " +
		"on no verified domain of the account, or outside the key's domains; `sandbox_recipient_not_allowed`: the sandbox sender writes to the account email only; " +
		"`production_not_unlocked`: so does a free account; `account_suspended`: the account may not send at present.",
		example: problem.ProblemBody{Code: fault.CodeDomainNotVerified, Message: "The domain example.com is not verified"}},
	http.StatusNotFound: {name: "NotFound", description: "`not_found`: no such resource in this account.",
		example: problem.ProblemBody{Code: fault.CodeNotFound, Message: "No such email: msg_01kf0m4w7he6x8q2v5b3n9c1ta"}},
	http.StatusRequestTimeout: {name: "RequestTimeout", description: "`request_timeout`: the body did not arrive in time.",
		example: problem.ProblemBody{Code: problem.CodeRequestTimeout, Message: "The body did not arrive in time"}},
	http.StatusConflict: {name: "Conflict", description: "`idempotency_conflict`: the key was used with another request. `idempotency_in_progress`: the first request with " +
		"the key still runs. `domain_claimed`: another account has verified the domain. `domain_not_verified`: these settings are set after that. `email_not_scheduled`: the email is not waiting for its time (any more). `conflict`: what is asked for exists already. " +
		"`billing_disabled`: this installation takes no payments. `payment_due`: a payment is overdue.",
		example: problem.ProblemBody{Code: fault.CodeIdempotencyConflict, Message: "This Idempotency-Key was used for a different request in the last 24 hours"}},
	http.StatusRequestEntityTooLarge: {name: "PayloadTooLarge", description: "`payload_too_large`: the body is over the operation's limit.",
		example: problem.ProblemBody{Code: fault.CodePayloadTooLarge, Message: "The body is larger than the 1048576 octets that this operation takes"}},
	http.StatusUnsupportedMediaType: {name: "UnsupportedMediaType", description: "`unsupported_media_type`: the body is not `application/json`, or is compressed.",
		example: problem.ProblemBody{Code: fault.CodeUnsupportedMediaType, Message: "Content-Type must be application/json, not text/plain"}},
	http.StatusTooManyRequests: {name: "TooManyRequests", retryAfter: true, description: "`rate_limit_exceeded`: too many requests per second; `Retry-After` says when to go on. " +
		"`plan_limit`: the plan's cap is reached, `upgrade_url` is where to raise it. `export_in_progress`: another export of the account is under way.",
		example: problem.ProblemBody{Code: fault.CodeRateLimit, Message: "More than 10 requests per second; slow down"}},
	http.StatusInternalServerError: {name: "InternalError", description: "A defect on our side. The message names the request id.",
		example: problem.ProblemBody{Code: problem.CodeInternal, Message: "Internal error (request id req_01kf0m4w7he6x8q2v5b3n9c1ta)"}},
	http.StatusBadGateway: {name: "BadGateway", description: "`delivery_upstream_error`: a service that the request needs has refused.",
		example: problem.ProblemBody{Code: fault.CodeUpstream, Message: "The DNS resolver does not answer (request id req_01kf0m4w7he6x8q2v5b3n9c1ta)"}},
	http.StatusServiceUnavailable: {name: "ServiceUnavailable", retryAfter: true, description: "`delivery_unavailable`: nothing can be stored durably right now. " +
		"Repeat the request with the same `Idempotency-Key` after `Retry-After` seconds. `body_unavailable`: the object store, which has the body of an email, does not give it right now.",
		example: problem.ProblemBody{Code: fault.CodeUnavailable, Message: "The service cannot reach its storage right now; try again, and repeat a write with the same Idempotency-Key (request id req_01kf0m4w7he6x8q2v5b3n9c1ta)"}},
}

// problemResponse is one answer for all operations, so that the document says it once.
func problemResponse(status int) *huma.Response {
	doc := problemDocs[status]
	headers := map[string]*huma.Header{telemetry.RequestIDHeader: {Ref: "#/components/headers/RequestId"}}
	if doc.retryAfter {
		headers["Retry-After"] = &huma.Header{Ref: "#/components/headers/RetryAfter"}
	}
	return &huma.Response{Description: doc.description, Headers: headers, Content: map[string]*huma.MediaType{
		jsonType: {Schema: &huma.Schema{Ref: "#/components/schemas/Error"}, Example: map[string]any{"error": doc.example}}}}
}

// errorSchema describes the body of a problem, and what stands in it.
func errorSchema() (whole, inner *huma.Schema) {
	inner = &huma.Schema{Type: huma.TypeObject, Required: []string{"message"}, Properties: map[string]*huma.Schema{
		"message":     {Type: huma.TypeString, Description: "For people."},
		"code":        {Type: huma.TypeString, Description: "For programs. Absent with 401."},
		"details":     {Type: huma.TypeObject, AdditionalProperties: true, Description: "For `validation_error` a map of field path to reason."},
		"upgrade_url": {Type: huma.TypeString, Description: "Path of the dashboard page that raises the limit."},
	}}
	whole = &huma.Schema{Type: huma.TypeObject, Required: []string{"error"}, Properties: map[string]*huma.Schema{
		"error": {Ref: "#/components/schemas/ProblemBody"},
	}}
	return whole, inner
}
