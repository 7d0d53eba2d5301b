package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/idempotency"
)

// declared is the key under which a Huma operation carries ours.
const declared = "operation"

const documentIntro = `Send transactional email and follow what becomes of it.

Every request carries ` + "`Authorization: Bearer <API key>`" + `. Bodies are JSON in UTF-8 with ` + "`Content-Type: application/json`" + `. Unknown fields and unknown
query parameters are refused (400), so that a misspelt name is never ignored. Ids are opaque. Timestamps are RFC 3339 in UTC with milliseconds; one that is not set
is ` + "`null`" + `. Lists are newest first and paged by an opaque cursor.

Errors are ` + "`{\"error\": {\"message\", \"code\", \"details\", \"upgrade_url\"}}`" + `. For a ` + "`validation_error`" + `, ` + "`details`" + ` maps each wrong field to a reason, all of them at once:
` + "`\"attachments[2].data\": \"is not valid base64\"`" + `.

Every answer carries ` + "`X-Request-Id`" + `. Every authenticated answer carries ` + "`ratelimit-limit`" + `, ` + "`ratelimit-remaining`" + ` and ` + "`ratelimit-reset`" + `. An account may use two
seconds' worth of its plan's requests per second at once.

A 2xx is answered after the data is stored durably. No answer means unknown: repeat the request with the same ` + "`Idempotency-Key`" + `.

Changes are additive: new fields and new values may appear. A removal is announced by the headers ` + "`Deprecation`" + ` and ` + "`Sunset`" + `.`

func newDocument(o Options) *huma.OpenAPI {
	version := o.Version
	if version == "" {
		version = "0.0.0-dev"
	}
	d := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{Title: "Postrider", Version: version, Description: documentIntro,
			License: &huma.License{Name: "Apache-2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"}},
		Servers: []*huma.Server{{URL: strings.TrimSuffix(o.BaseURL, "/") + Prefix, Description: "This installation"}},
		Components: &huma.Components{
			Schemas:    huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
			Responses:  map[string]*huma.Response{},
			Headers:    responseHeaders(),
			Parameters: map[string]*huma.Param{"IdempotencyKey": idempotencyParameter()},
			SecuritySchemes: map[string]*huma.SecurityScheme{"bearer": {Type: "http", Scheme: "bearer",
				Description: "An API key. Its secret starts with `svc_` and is shown once, when the key is made. For servers only."}},
		},
		Security: []map[string][]string{{"bearer": {}}},
	}
	d.OnAddOperation = []huma.AddOpFunc{document}
	return d
}

func idempotencyParameter() *huma.Param {
	one, most := 1, 255
	return &huma.Param{Name: idempotency.Header, In: "header", Example: "order-1742-receipt",
		Description: "1 to 255 printable ASCII characters, unique in your account, kept for 24 hours. The same key with the same body gives the first " +
			"answer again, byte for byte, with `Idempotent-Replayed: true`; with another body it is 409 `idempotency_conflict`. Answers of 2xx are kept; a request that was refused is judged anew.",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: &one, MaxLength: &most, Pattern: "^[ -~]+$"}}
}

// headerNames maps the names of components to header fields.
var headerNames = map[string]string{
	"RequestId": headerRequestID, "RateLimitLimit": "ratelimit-limit", "RateLimitRemaining": "ratelimit-remaining", "RateLimitReset": "ratelimit-reset",
}

func responseHeaders() map[string]*huma.Header {
	integer := &huma.Schema{Type: huma.TypeInteger}
	return map[string]*huma.Header{
		"RequestId":          {Description: "Names this request in our logs.", Schema: &huma.Schema{Type: huma.TypeString}},
		"RateLimitLimit":     {Description: "Requests that may be made at once: two seconds' worth of the plan's rate.", Schema: integer},
		"RateLimitRemaining": {Description: "How many of them are left.", Schema: integer},
		"RateLimitReset":     {Description: "Seconds until all of them are there again.", Schema: integer},
		"RetryAfter":         {Description: "Seconds to wait before the request is repeated.", Schema: integer},
	}
}

// document completes what Huma has derived from the Go types.
func document(d *huma.OpenAPI, op *huma.Operation) {
	o, ours := op.Metadata[declared].(operation)
	if !ours {
		return
	}
	op.Description += "\n\nScopes: " + scopesFor(o.needs) + "."
	op.Security = []map[string][]string{{"bearer": {}}}
	if o.idempotent {
		op.Parameters = append(op.Parameters, &huma.Param{Ref: "#/components/parameters/IdempotencyKey"})
	}
	if o.body != nil {
		op.RequestBody = o.body.document()
	}
	delete(op.Responses, "default")
	documentSuccess(d, op, o)
	for _, status := range o.statuses() {
		name := problemDocs[status].name
		d.Components.Responses[name] = problemResponse(status)
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + name}
	}
}

func scopesFor(needs accounts.Operation) string {
	var scopes []string
	for _, s := range accounts.Scopes() {
		if s.Allows(needs) {
			scopes = append(scopes, "`"+string(s)+"`")
		}
	}
	return strings.Join(scopes, ", ")
}

func documentSuccess(d *huma.OpenAPI, op *huma.Operation, o operation) {
	success := op.Responses["200"]
	success.Description = "Done."
	if success.Headers == nil {
		success.Headers = map[string]*huma.Header{}
	}
	for component, name := range headerNames {
		success.Headers[name] = &huma.Header{Ref: "#/components/headers/" + component}
	}
	if o.media != "" {
		success.Content = map[string]*huma.MediaType{o.media: {Schema: &huma.Schema{Type: huma.TypeString}, Example: o.example}}
		return
	}
	media := success.Content[jsonType]
	if media == nil { // written piece by piece
		media = &huma.MediaType{}
		success.Content = map[string]*huma.MediaType{jsonType: media}
	}
	if o.answer != nil {
		media.Schema = d.Components.Schemas.Schema(o.answer, true, "")
	}
	media.Example = o.example
}

func (b *requestBody) document() *huma.RequestBody {
	media := &huma.MediaType{Schema: &huma.Schema{Ref: "#/components/schemas/" + b.schema}, Examples: map[string]*huma.Example{}}
	for name, example := range b.examples {
		media.Examples[name] = &huma.Example{Value: example}
	}
	limit := b.limit
	if limit == 0 {
		limit = bodyLimit
	}
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{jsonType: media},
		Description: fmt.Sprintf("%s At most %d octets.", b.description, limit)}
}

// statuses lists every status of an operation that is not a success.
func (o operation) statuses() []int {
	all := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusServiceUnavailable}
	if o.body != nil {
		all = append(all, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if o.idempotent {
		all = append(all, http.StatusConflict)
	}
	all = append(all, o.problems...)
	slices.Sort(all)
	return slices.Compact(all)
}

func (a *API) describeTag(name, description string) {
	d := a.huma.OpenAPI()
	d.Tags = append(d.Tags, &huma.Tag{Name: name, Description: description})
}

// describeBody adds the schema of a request body.
func (a *API) describeBody(name string, schema *huma.Schema) {
	a.requestSchemas[name] = schema
}

// Document is the description of the API, in the forms that it is published in.
type Document struct {
	JSON   []byte // OpenAPI 3.1
	YAML   []byte // the same
	JSON30 []byte // OpenAPI 3.0, for generators that do not read 3.1 yet
}

// DocumentOf describes the API of some routes without serving it. Their services
// may be nil.
func DocumentOf(version, baseURL string, routes ...Routes) (Document, error) {
	a, err := assemble(Options{Version: version, BaseURL: baseURL, Routes: routes})
	if err != nil {
		return Document{}, err
	}
	return a.document, nil
}

// complete finishes the document once every operation is known.
func (a *API) complete() error {
	d := a.huma.OpenAPI()
	schemas := d.Components.Schemas.Map()
	for _, s := range schemas {
		s.AdditionalProperties = nil // answers may grow
	}
	maps.Copy(schemas, a.requestSchemas)
	// Huma's view of our errors; Error is the hand-written one.
	delete(schemas, "Problem")
	delete(schemas, "ProblemBody")
	schemas["Error"] = errorSchema()
	indented, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("openapi document: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, indented, "", "  "); err != nil {
		return fmt.Errorf("openapi document: %w", err)
	}
	a.document.JSON = append(out.Bytes(), '\n')
	if a.document.YAML, err = d.YAML(); err != nil {
		return fmt.Errorf("openapi document: %w", err)
	}
	if a.document.JSON30, err = d.Downgrade(); err != nil {
		return fmt.Errorf("openapi document: %w", err)
	}
	return nil
}

// publish serves the document and the page that is made from it.
func (a *API) publish() error {
	reference, err := referencePage(a.huma.OpenAPI())
	if err != nil {
		return err
	}
	serve := func(path, contentType string, content []byte, headers map[string]string) {
		a.mux.HandleFunc("GET "+Prefix+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.Header().Set("Cache-Control", "no-cache")
			for name, value := range headers {
				w.Header().Set(name, value)
			}
			// The caller may have left; there is nobody to tell.
			if _, err := w.Write(content); err != nil {
				return
			}
		})
	}
	serve("/openapi.json", jsonType, a.document.JSON, nil)
	serve("/openapi.yaml", "application/yaml", a.document.YAML, nil)
	serve("/openapi-3.0.json", jsonType, a.document.JSON30, nil)
	serve("/docs", "text/html; charset=utf-8", reference, map[string]string{
		"Content-Security-Policy": "default-src 'none'; style-src 'sha256-" + styleHash() + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		"Referrer-Policy":         "no-referrer",
	})
	return nil
}
