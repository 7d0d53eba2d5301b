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
	name        string // name of the component
	description string
	retryAfter  bool
	example     problem.ProblemBody
}

var problemDocs = map[int]problemDoc{
	http.StatusBadRequest: {name: "BadRequest", description: "The request is invalid: invalid JSON, or missing, " +
		"unknown or invalid fields. `details` lists all of them.",
		example: problem.ProblemBody{Code: fault.CodeValidation, Message: "Invalid fields: from, to[1]",
			Details: map[string]any{"from": "is required",
				"to[1]": "must be a string or an object {email, name}, not a number"}}},
	http.StatusUnauthorized: {name: "Unauthorized",
		description: "The API key is missing, malformed, unknown, revoked or expired.",
		example:     problem.ProblemBody{Message: "Unauthorized"}},
	http.StatusForbidden: {name: "Forbidden", description: "`insufficient_scope`: the scope of the key does not " +
		"allow the operation. For sending also `domain_not_verified`: `from` is not on a verified domain of the " +
		"account, or not on a domain of the key; `sandbox_recipient_not_allowed`: the sandbox sender can send only " +
		"to the account email; `production_not_unlocked`: a free account can send only to the account email; " +
		"`account_suspended`: the account is suspended and cannot send.",
		example: problem.ProblemBody{Code: fault.CodeDomainNotVerified,
			Message: "The domain example.com is not verified"}},
	http.StatusNotFound: {name: "NotFound", description: "`not_found`: the account has no such resource.",
		example: problem.ProblemBody{Code: fault.CodeNotFound,
			Message: "No such email: msg_01kf0m4w7he6x8q2v5b3n9c1ta"}},
	http.StatusRequestTimeout: {name: "RequestTimeout",
		description: "`request_timeout`: the body did not arrive in time.",
		example:     problem.ProblemBody{Code: problem.CodeRequestTimeout, Message: "The body did not arrive in time"}},
	http.StatusConflict: {name: "Conflict", description: "`idempotency_conflict`: the key was used with a different " +
		"request. `idempotency_in_progress`: the first request with the key is still running. `domain_claimed`: " +
		"another account has verified the domain. `domain_not_verified`: these settings require a verified domain. " +
		"`email_not_scheduled`: the email is not, or no longer, scheduled. `conflict`: the request conflicts with " +
		"the current state, for example because the resource exists. `billing_disabled`: billing is disabled on " +
		"this installation. `payment_due`: a payment is overdue. `account_moved`: the account has moved to another " +
		"installation, whose base URL is in `details.base_url`. Requests with an API key are redirected there with 307.",
		example: problem.ProblemBody{Code: fault.CodeIdempotencyConflict,
			Message: "This Idempotency-Key was used for a different request in the last 24 hours"}},
	http.StatusRequestEntityTooLarge: {name: "PayloadTooLarge", description: "`payload_too_large`: the body is " +
		"larger than the operation allows.",
		example: problem.ProblemBody{Code: fault.CodePayloadTooLarge, Message: "The body is larger than the limit " +
			"of 1048576 bytes"}},
	http.StatusUnsupportedMediaType: {name: "UnsupportedMediaType",
		description: "`unsupported_media_type`: the body is not `application/json`, or is compressed.",
		example: problem.ProblemBody{Code: fault.CodeUnsupportedMediaType,
			Message: "Content-Type must be application/json, not text/plain"}},
	http.StatusTooManyRequests: {name: "TooManyRequests", retryAfter: true, description: "`rate_limit_exceeded`: " +
		"too many requests per second; wait for `Retry-After` seconds. `plan_limit`: the cap of the plan is " +
		"reached; `upgrade_url` leads to the page that raises it. `export_in_progress`: another export of the " +
		"account is running.",
		example: problem.ProblemBody{Code: fault.CodeRateLimit,
			Message: "More than 10 requests per second; slow down"}},
	http.StatusInternalServerError: {name: "InternalError", description: "An internal error. The message contains " +
		"the request ID.",
		example: problem.ProblemBody{Code: problem.CodeInternal,
			Message: "Internal error (request id req_01kf0m4w7he6x8q2v5b3n9c1ta)"}},
	http.StatusBadGateway: {name: "BadGateway", description: "`delivery_upstream_error`: a service that the request " +
		"depends on returned an error.",
		example: problem.ProblemBody{Code: fault.CodeUpstream,
			Message: "The DNS resolver does not respond (request id req_01kf0m4w7he6x8q2v5b3n9c1ta)"}},
	http.StatusServiceUnavailable: {name: "ServiceUnavailable", retryAfter: true,
		description: "`delivery_unavailable`: " +
			"the request cannot be stored durably at the moment. Retry with the same `Idempotency-Key` after " +
			"`Retry-After` seconds. `body_unavailable`: the body of the email is temporarily unavailable (object " +
			"storage). `account_moving`: the account is being moved to another installation and accepts no changes.",
		example: problem.ProblemBody{Code: fault.CodeUnavailable,
			Message: "Database temporarily unavailable. Retry, and repeat a write with the same Idempotency-Key (request id req_01kf0m4w7he6x8q2v5b3n9c1ta)"}},
}

// problemResponse is shared by all operations, so that the document contains it once.
func problemResponse(status int) *huma.Response {
	doc := problemDocs[status]
	headers := map[string]*huma.Header{telemetry.RequestIDHeader: {Ref: "#/components/headers/RequestId"}}
	if doc.retryAfter {
		headers["Retry-After"] = &huma.Header{Ref: "#/components/headers/RetryAfter"}
	}
	return &huma.Response{Description: doc.description, Headers: headers, Content: map[string]*huma.MediaType{
		jsonType: {Schema: &huma.Schema{Ref: "#/components/schemas/Error"},
			Example: map[string]any{"error": doc.example}}}}
}

// errorSchema describes the body of a problem and its fields.
func errorSchema() (whole, inner *huma.Schema) {
	inner = &huma.Schema{Type: huma.TypeObject, Required: []string{"message"}, Properties: map[string]*huma.Schema{
		"message": {Type: huma.TypeString, Description: "A human-readable message."},
		"code":    {Type: huma.TypeString, Description: "A machine-readable code. Absent in 401 responses."},
		"details": {Type: huma.TypeObject, AdditionalProperties: true, Description: "For `validation_error`, a " +
			"map from field path to reason."},
		"upgrade_url": {Type: huma.TypeString, Description: "Path of the dashboard page where the limit can be " +
			"raised."},
	}}
	whole = &huma.Schema{Type: huma.TypeObject, Required: []string{"error"}, Properties: map[string]*huma.Schema{
		"error": {Ref: "#/components/schemas/ProblemBody", Description: "The error."},
	}}
	return whole, inner
}
