package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/event"
)

// Key is the metadata key of a Huma operation for its description.
const Key = "operation"

const jsonType = "application/json"

const documentIntro = `Send transactional email and track its delivery.

Every request carries ` + "`Authorization: Bearer <API key>`" + `. Bodies are JSON in UTF-8 with ` + "`Content-Type: application/json`" + `. Unknown fields and unknown
query parameters are refused (400), so that a misspelled name is never ignored. IDs are opaque. Timestamps are RFC 3339 in UTC with milliseconds; one that is not set
is ` + "`null`" + `. Lists are newest first and use an opaque cursor for pagination.

In an optional field, an empty string or one with only white space means the same as ` + "`null`" + `: a new resource is created without the field. A PATCH clears the field, or is
refused (400) if the field cannot be ` + "`null`" + `. The only exception is the ` + "`text`" + ` of an email, where an empty string means no text part.

Errors are ` + "`{\"error\": {\"message\", \"code\", \"details\", \"upgrade_url\"}}`" + `. For a ` + "`validation_error`" + `, ` + "`details`" + ` maps each invalid field to a reason:
` + "`\"attachments[2].data\": \"is not valid base64\"`" + `.

Every response carries ` + "`X-Request-Id`" + `. Every authenticated response carries ` + "`ratelimit-limit`" + `, ` + "`ratelimit-remaining`" + ` and ` + "`ratelimit-reset`" + `. An account can send
bursts of up to two seconds' worth of its plan's requests per second.

A 2xx response means that the data is stored durably. If you receive no response, the outcome is unknown: repeat the request with the same ` + "`Idempotency-Key`" + `.

Changes are additive: new fields and new values may appear. A removal is announced in the headers ` + "`Deprecation`" + ` and ` + "`Sunset`" + `.`

// New returns a document without operations. cookie is the name of the session cookie. Each operation that is added is
// completed by the Operation in its metadata.
func New(version, server, cookie string) *huma.OpenAPI {
	if version == "" {
		version = "0.0.0-dev"
	}
	d := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{Title: "Postrider", Version: version, Description: documentIntro,
			License: &huma.License{Name: "Apache-2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"}},
		Servers: []*huma.Server{{URL: server, Description: "This installation"}},
		Components: &huma.Components{
			Schemas:    huma.NewMapRegistry("#/components/schemas/", schemaName),
			Responses:  map[string]*huma.Response{},
			Headers:    responseHeaders(),
			Parameters: map[string]*huma.Param{"IdempotencyKey": idempotencyParameter()},
			SecuritySchemes: map[string]*huma.SecurityScheme{"bearer": {Type: "http", Scheme: "bearer",
				Description: "An API key for use on servers. Its secret starts with `svc_` and is shown only once, " +
					"when the key is created. The secret of an operator key starts with `svc_op_`; such a key acts for the " +
					"account in the header Postrider-Account, and without it only for the installation."},
				"session": {Type: "apiKey", In: "cookie", Name: cookie,
					Description: "The session cookie of a signed-in user. A request that changes data must come " +
						"from a page of this installation. The header Postrider-Account selects an account other " +
						"than the session's."}},
		},
		Security: []map[string][]string{{"bearer": {}}},
	}
	d.OnAddOperation = []huma.AddOpFunc{completeOperation}
	return d
}

// schemaName returns the component name of a type. The short names of event payloads would collide with those of
// resource records.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.PkgPath() == reflect.TypeFor[event.Run]().PkgPath() {
		name += "Payload"
	}
	return name
}

func idempotencyParameter() *huma.Param {
	one, most := 1, 255
	return &huma.Param{Name: idempotency.Header, In: "header", Example: "order-1742-receipt",
		Description: "1 to 255 printable ASCII characters, unique in your account, kept for 24 hours. The same key " +
			"with the same body returns the first response again, byte for byte, with `Idempotent-Replayed: true`. " +
			"With a different body, the request fails with 409 `idempotency_conflict`. Only 2xx responses are " +
			"stored; a failed request is processed again.",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: &one, MaxLength: &most, Pattern: "^[ -~]+$"}}
}

// headerNames maps the names of components to header fields.
var headerNames = map[string]string{
	"RequestId": telemetry.RequestIDHeader, "RateLimitLimit": "ratelimit-limit",
	"RateLimitRemaining": "ratelimit-remaining", "RateLimitReset": "ratelimit-reset",
}

// The header field of a stored response, and its component. If each operation had its own schema, client generators
// would create a type for each.
const (
	replayedHeader = "Idempotent-Replayed"
	replayed       = "IdempotentReplayed"
)

func responseHeaders() map[string]*huma.Header {
	integer := &huma.Schema{Type: huma.TypeInteger}
	return map[string]*huma.Header{
		"RequestId": {Description: "Identifies this request in the server logs.", Schema: &huma.Schema{Type: huma.TypeString}},
		"RateLimitLimit": {Description: "The number of requests allowed in a burst: two seconds' worth of the " +
			"plan's rate.", Schema: integer},
		"RateLimitRemaining": {Description: "The number of requests left in the burst.", Schema: integer},
		"RateLimitReset":     {Description: "Seconds until the whole burst is available again.", Schema: integer},
		replayed: {Description: "`true` if this is the stored response to an earlier request with the same " +
			"`Idempotency-Key`.", Schema: &huma.Schema{Type: huma.TypeString}},
		"RetryAfter": {Description: "Seconds to wait before you retry.", Schema: integer},
	}
}

// OperationDoc describes an operation in the document, in addition to what Huma derives from the Go types.
type OperationDoc struct {
	Scopes     []string                 // scopes of keys that may call it
	Roles      []string                 // roles of users who may call it
	Public     bool                     // requires no authentication
	Idempotent bool                     // reads Idempotency-Key
	Path       map[string]PathParameter // by name
	Request    *huma.RequestBody
	Problems   []int                                    // statuses in addition to the common ones
	Answer     func(schemas huma.Registry) *huma.Schema // schema of the successful response, if Huma only sees bytes
	Media      string                                   // of the successful response, if it is text and not JSON
	// examples of the successful response by media type, if it is one of several texts
	Forms   map[string]any
	Example any // example of the successful response
}

// PathParameter describes a path parameter whose name Huma knows.
type PathParameter struct{ About, Example string }

// describeRights lists the scopes of keys and the roles of users that may call an operation.
func (o OperationDoc) describeRights(op *huma.Operation) {
	if o.Public {
		op.Description += "\n\nRequires no authentication."
		op.Security = []map[string][]string{}
		return
	}
	if len(o.Scopes) > 0 {
		op.Description += "\n\nScopes: `" + strings.Join(o.Scopes, "`, `") + "`."
		op.Security = append(op.Security, map[string][]string{"bearer": {}})
	}
	if len(o.Roles) > 0 {
		op.Description += "\n\nRoles: `" + strings.Join(o.Roles, "`, `") + "`."
	} else {
		op.Description += "\n\nRequires an operator of the installation."
	}
	op.Security = append(op.Security, map[string][]string{"session": {}})
}

// completeOperation completes what Huma has derived from the Go types.
func completeOperation(d *huma.OpenAPI, op *huma.Operation) {
	o, ours := op.Metadata[Key].(OperationDoc)
	if !ours {
		return
	}
	o.describeRights(op)
	if o.Idempotent {
		op.Parameters = append(op.Parameters, &huma.Param{Ref: "#/components/parameters/IdempotencyKey"})
	}
	for _, p := range op.Parameters {
		if about, known := o.Path[p.Name]; known && p.In == "path" && p.Description == "" {
			p.Description, p.Schema.Description, p.Schema.Examples = about.About, about.About, []any{about.Example}
		}
	}
	op.RequestBody = o.Request
	delete(op.Responses, "default")
	o.describeSuccess(d, successOf(op))
	for _, status := range o.errorStatuses() {
		name := problemDocs[status].name
		d.Components.Responses[name] = problemResponse(status)
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + name}
	}
}

const redirect = "302"

// successOf returns the successful response of an operation. There is exactly one.
func successOf(op *huma.Operation) *huma.Response {
	for _, status := range []string{"202", redirect} {
		if other := op.Responses[status]; other != nil {
			return other
		}
	}
	return op.Responses["200"]
}

func (o OperationDoc) describeSuccess(d *huma.OpenAPI, success *huma.Response) {
	success.Description = "Done."
	if success.Headers == nil {
		success.Headers = map[string]*huma.Header{}
	}
	for component, name := range headerNames {
		success.Headers[name] = &huma.Header{Ref: "#/components/headers/" + component}
	}
	if success.Headers[replayedHeader] != nil {
		success.Headers[replayedHeader] = &huma.Header{Ref: "#/components/headers/" + replayed}
	}
	if success.Headers["Location"] != nil {
		success.Description, success.Content = "Redirect to the provider.", nil
		return
	}
	if o.Media != "" {
		success.Content = map[string]*huma.MediaType{o.Media: {Schema: &huma.Schema{Type: huma.TypeString},
			Example: o.Example}}
		return
	}
	if len(o.Forms) > 0 {
		success.Content = map[string]*huma.MediaType{}
		for form, example := range o.Forms {
			success.Content[form] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}, Example: example}
		}
		return
	}
	media := success.Content[jsonType]
	if media == nil { // written piece by piece
		media = &huma.MediaType{}
		success.Content = map[string]*huma.MediaType{jsonType: media}
	}
	if o.Answer != nil {
		media.Schema = o.Answer(d.Components.Schemas)
	}
	media.Example = o.Example
}

// errorStatuses lists all error statuses of an operation.
func (o OperationDoc) errorStatuses() []int {
	all := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusServiceUnavailable}
	if o.Request != nil {
		all = append(all, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if o.Idempotent {
		all = append(all, http.StatusConflict)
	}
	all = append(all, o.Problems...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Document is the OpenAPI document in the formats in which it is served.
type Document struct {
	JSON []byte
	// YAML, and JSON30 and YAML30 (OpenAPI 3.0), are generated at the first request: they are rarely used, and would
	// take most of the startup time.
	YAML, JSON30, YAML30 func() ([]byte, error)
}

// Finish completes a document after all operations are added. It adds the schemas of request bodies to those of
// responses.
func Finish(d *huma.OpenAPI, bodies map[string]*huma.Schema) (Document, error) {
	schemas := d.Components.Schemas.Map()
	for _, s := range schemas {
		s.AdditionalProperties = nil // responses may get new fields
		for _, property := range s.Properties {
			if property.Nullable && len(property.Enum) > 0 {
				property.Enum = append(slices.Clone(property.Enum), nil)
			}
		}
	}
	maps.Copy(schemas, bodies)
	// Instead of Huma's view of our errors.
	delete(schemas, "Problem")
	schemas["Error"], schemas["ProblemBody"] = errorSchema()
	encoded, err := json.Marshal(d)
	if err != nil {
		return Document{}, fmt.Errorf("openapi document: %w", err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, encoded, "", "  "); err != nil {
		return Document{}, fmt.Errorf("openapi document: %w", err)
	}
	translated := func(form string, into func() ([]byte, error)) func() ([]byte, error) {
		return sync.OnceValues(func() ([]byte, error) {
			text, err := into()
			if err != nil {
				err = fmt.Errorf("openapi document in %s: %w", form, err)
			}
			return text, err
		})
	}
	json30 := translated("3.0", func() ([]byte, error) { return convertTo30(d) })
	return Document{JSON: append(indented.Bytes(), '\n'), YAML: translated("YAML", d.YAML), JSON30: json30,
		YAML30: translated("3.0 in YAML", func() ([]byte, error) { return convertToYAML(json30) })}, nil
}
