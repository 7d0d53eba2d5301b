package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/postrider/postrider/ent"
)

// asked contains one request for each operation: the path below /api, and the body. The response has every field of the
// example in the document.
var asked = map[string][2]string{
	"GET /emails":                          {"/emails"},
	"POST /emails":                         {"/emails", simple},
	"POST /emails/check":                   {"/emails/check", simple},
	"GET /emails/export":                   {"/emails/export?format=csv"},
	"GET /suppressions/export":             {"/suppressions/export"},
	"GET /events/export":                   {"/events/export"},
	"GET /emails/{id}":                     {"/emails/" + emailID},
	"PATCH /emails/{id}":                   {"/emails/" + emailID, `{"cancel":true}`},
	"POST /emails/{id}/resend":             {"/emails/" + emailID + "/resend"},
	"GET /emails/{id}/recipients":          {"/emails/" + emailID + "/recipients"},
	"GET /emails/{id}/attempts":            {"/emails/" + emailID + "/attempts?limit=2"},
	"GET /emails/{id}/attachments/{index}": {"/emails/" + emailID + "/attachments/0"},
	"POST /emails/batch": {"/emails/batch", `{"emails":[` + simple +
		`,{"from":"ada@example.com","to":["bob"],"subject":"Hi","text":"Hello"}]}`},
	"POST /emails/test":              {"/emails/test", `{"event":"email.delivered"}`},
	"GET /domains":                   {"/domains"},
	"POST /domains":                  {"/domains", `{"name":"example.com"}`},
	"GET /domains/{id}":              {"/domains/" + domainID},
	"PATCH /domains/{id}":            {"/domains/" + domainID, `{"tls_mode":"enforced"}`},
	"DELETE /domains/{id}":           {"/domains/" + domainID},
	"POST /domains/{id}/verify":      {"/domains/" + domainID + "/verify"},
	"POST /domains/{id}/dkim/rotate": {"/domains/" + domainID + "/dkim/rotate"},
	"GET /domains/{id}/zone-file":    {"/domains/" + domainID + "/zone-file"},
	"GET /domains/{id}/dns-provider": {"/domains/" + domainID + "/dns-provider"},
	"POST /domains/{id}/dns-records/apply": {"/domains/" + domainID + "/dns-records/apply",
		`{"provider":"gandi","credentials":{"bearer_token":"abcdefgh"}}`},
	"GET /domains/{id}/deliverability":              {"/domains/" + domainID + "/deliverability"},
	"GET /domains/{id}/tracking-host":               {"/domains/" + domainID + "/tracking-host"},
	"PUT /domains/{id}/tracking-host":               {"/domains/" + domainID + "/tracking-host", `{"host":"links.example.com"}`},
	"DELETE /domains/{id}/tracking-host":            {"/domains/" + domainID + "/tracking-host"},
	"POST /domains/{id}/tracking-host/verify":       {"/domains/" + domainID + "/tracking-host/verify"},
	"GET /domains/claims":                           {"/domains/claims"},
	"POST /domains/claims":                          {"/domains/claims", `{"name":"example.com"}`},
	"GET /domains/claims/{id}":                      {"/domains/claims/" + claimID},
	"POST /domains/claims/{id}/verify":              {"/domains/claims/" + claimID + "/verify"},
	"GET /account":                                  {"/account"},
	"GET /requests":                                 {"/requests?method=POST,PATCH&path=/api/emails&status_from=400&status_below=500&since=2026-01-15T09:30:00Z"},
	"GET /requests/{id}":                            {"/requests/req_1"},
	"GET /test/inbox":                               {"/test/inbox"},
	"GET /test/inbox/latest":                        {"/test/inbox/latest?to=bob@example.net&wait=1s"},
	"GET /test/inbox/{id}":                          {"/test/inbox/" + capturedID},
	"PATCH /account":                                {"/account", `{"name":"Acme"}`},
	"GET /account/brand":                            {"/account/brand"},
	"PUT /account/brand":                            {"/account/brand", `{"name":"Acme"}`},
	"GET /plans":                                    {"/plans"},
	"GET /operator/accounts":                        {}, // for operators, as are those below
	"POST /operator/accounts":                       {},
	"GET /operator/keys":                            {},
	"POST /operator/keys":                           {},
	"DELETE /operator/keys/{id}":                    {},
	"GET /operator/accounts/{id}":                   {},
	"PATCH /operator/accounts/{id}":                 {},
	"GET /operator/plans":                           {},
	"GET /operator/plans/{id}":                      {},
	"PATCH /operator/plans/{id}":                    {},
	"GET /operator/billing":                         {},
	"GET /operator/users":                           {},
	"POST /operator/users":                          {},
	"GET /operator/users/{id}":                      {},
	"PATCH /operator/users/{id}":                    {},
	"POST /operator/users/{id}/links":               {},
	"GET /operator/audit-log":                       {},
	"GET /billing":                                  {"/billing"},
	"PATCH /billing":                                {}, // for signed-in users
	"POST /billing/payment-method":                  {}, // for signed-in users, as are the others that change payments
	"POST /billing/checkout":                        {},
	"POST /billing/plan/preview":                    {},
	"PUT /billing/plan":                             {},
	"DELETE /billing/plan/pending":                  {},
	"POST /billing/portal":                          {},
	"POST /billing/sync":                            {},
	"GET /billing/invoices":                         {"/billing/invoices"},
	"GET /billing/usage":                            {"/billing/usage?since=2026-01-15T00:00:00Z"},
	"GET /api-keys":                                 {"/api-keys"},
	"POST /api-keys":                                {"/api-keys", `{"name":"x"}`},
	"GET /api-keys/{id}":                            {"/api-keys/" + keyID},
	"PATCH /api-keys/{id}":                          {"/api-keys/" + keyID, `{"name":"x"}`},
	"POST /api-keys/{id}/rotate":                    {"/api-keys/" + keyID + "/rotate", `{}`},
	"DELETE /api-keys/{id}":                         {"/api-keys/" + keyID},
	"GET /smtp-credentials":                         {"/smtp-credentials"},
	"POST /smtp-credentials":                        {"/smtp-credentials", `{"name":"x"}`},
	"GET /smtp-credentials/{id}":                    {"/smtp-credentials/" + smtpCredentialID},
	"DELETE /smtp-credentials/{id}":                 {"/smtp-credentials/" + smtpCredentialID},
	"GET /suppressions":                             {"/suppressions"},
	"POST /suppressions":                            {"/suppressions", `{"email":"bob@example.net"}`},
	"GET /suppressions/{id}":                        {"/suppressions/" + suppressionID},
	"DELETE /suppressions/{id}":                     {"/suppressions/" + suppressionID},
	"POST /suppressions/batch":                      {"/suppressions/batch", `{"emails":["bob@example.net","carol"]}`},
	"POST /suppressions/batch/delete":               {"/suppressions/batch/delete", `{"emails":["bob@example.net","carol"]}`},
	"GET /category-opt-outs":                        {"/category-opt-outs"},
	"GET /category-opt-outs/{id}":                   {"/category-opt-outs/" + optOutID},
	"DELETE /category-opt-outs/{id}":                {"/category-opt-outs/" + optOutID},
	"GET /templates":                                {"/templates"},
	"POST /templates":                               {"/templates", wholeTemplate},
	"GET /templates/{id}":                           {"/templates/" + templateID},
	"PATCH /templates/{id}":                         {"/templates/" + templateID, `{"name":"x"}`},
	"DELETE /templates/{id}":                        {"/templates/" + templateID},
	"POST /templates/{id}/duplicate":                {"/templates/" + templateID + "/duplicate"},
	"POST /templates/{id}/publish":                  {"/templates/" + templateID + "/publish"},
	"POST /templates/{id}/rollback":                 {"/templates/" + templateID + "/rollback", `{"version":1}`},
	"GET /templates/{id}/edits":                     {"/templates/" + templateID + "/edits"},
	"GET /templates/{id}/edits/{edit}":              {"/templates/" + templateID + "/edits/2"},
	"POST /templates/{id}/edits/{edit}/restore":     {"/templates/" + templateID + "/edits/2/restore"},
	"GET /template-images":                          {"/template-images"},
	"POST /template-images":                         {"/template-images", `{"name":"logo.png","content":"` + pixelPNG + `"}`},
	"DELETE /template-images/{id}":                  {"/template-images/" + imageID},
	"POST /templates/{id}/render":                   {"/templates/" + templateID + "/render", `{}`},
	"GET /templates/{id}/strings":                   {"/templates/" + templateID + "/strings?locale=de"},
	"POST /templates/{id}/strings":                  {"/templates/" + templateID + "/strings", `{"xliff":"<xliff/>"}`},
	"GET /templates/{id}/statistics":                {"/templates/" + templateID + "/statistics"},
	"GET /templates/{id}/versions":                  {"/templates/" + templateID + "/versions"},
	"GET /templates/{id}/versions/{version}":        {"/templates/" + templateID + "/versions/3"},
	"GET /webhooks":                                 {"/webhooks"},
	"POST /webhooks":                                {"/webhooks", `{"url":"https://example.com/hooks"}`},
	"GET /webhooks/{id}":                            {"/webhooks/" + webhookID},
	"PATCH /webhooks/{id}":                          {"/webhooks/" + webhookID, `{"enabled":false}`},
	"DELETE /webhooks/{id}":                         {"/webhooks/" + webhookID},
	"POST /webhooks/{id}/rotate-secret":             {"/webhooks/" + webhookID + "/rotate-secret"},
	"POST /webhooks/{id}/recover":                   {"/webhooks/" + webhookID + "/recover", `{"since":"2026-01-15T09:00:00Z"}`},
	"GET /webhooks/{id}/deliveries":                 {"/webhooks/" + webhookID + "/deliveries?state=pending"},
	"GET /webhook-deliveries/{id}":                  {"/webhook-deliveries/" + webhookDeliveryID},
	"POST /webhook-deliveries/{id}/replay":          {"/webhook-deliveries/" + webhookDeliveryID + "/replay"},
	"DELETE /contacts/{email}/data":                 {"/contacts/bob@example.net/data"},
	"GET /received-emails":                          {"/received-emails"},
	"GET /received-emails/{id}":                     {"/received-emails/" + receivedEmailID},
	"GET /received-emails/{id}/raw":                 {"/received-emails/" + receivedEmailID + "/raw"},
	"GET /received-emails/{id}/attachments/{index}": {"/received-emails/" + receivedEmailID + "/attachments/1"},
	"DELETE /received-emails/{id}":                  {"/received-emails/" + receivedEmailID},
	"POST /received-emails/{id}/reply":              {"/received-emails/" + receivedEmailID + "/reply", `{"text":"Yes"}`},
	"POST /received-emails/{id}/forward":            {"/received-emails/" + receivedEmailID + "/forward", `{"to":"carol@example.net"}`},
	"GET /domains/{id}/address-rules":               {"/domains/" + domainID + "/address-rules"},
	"PUT /domains/{id}/address-rules": {"/domains/" + domainID + "/address-rules",
		`{"rules":[{"match":"support","action":"accept"}],"catch_all":false}`},
	"GET /automations":                             {"/automations"},
	"POST /automations":                            {"/automations", welcome},
	"GET /automations/{id}":                        {"/automations/" + automationID},
	"PATCH /automations/{id}":                      {"/automations/" + automationID, `{"name":"x"}`},
	"DELETE /automations/{id}":                     {"/automations/" + automationID},
	"POST /automations/{id}":                       {"/automations/" + automationID, `{"action":"activate"}`},
	"GET /automations/{id}/check":                  {"/automations/" + automationID + "/check"},
	"GET /automations/{id}/statistics":             {"/automations/" + automationID + "/statistics"},
	"GET /automations/{id}/versions":               {"/automations/" + automationID + "/versions"},
	"GET /automations/{id}/versions/{number}":      {"/automations/" + automationID + "/versions/1"},
	"GET /automations/{id}/runs":                   {"/automations/" + automationID + "/runs"},
	"GET /automation-runs":                         {"/automation-runs"},
	"GET /automation-runs/{id}":                    {"/automation-runs/" + runID},
	"POST /automation-runs/{id}/cancel":            {"/automation-runs/" + runID + "/cancel"},
	"POST /automation-runs/{id}/retry":             {"/automation-runs/" + runID + "/retry"},
	"POST /automations/{id}/retry-failed":          {"/automations/" + automationID + "/retry-failed", `{"since":"2026-01-15T09:30:00Z"}`},
	"GET /automation-webhook-secret":               {"/automation-webhook-secret"},
	"POST /events":                                 {"/events", `{"name":"user.created","user_id":"user-17","email":"bob@example.net","data":{"name":"Bob"}}`},
	"GET /events":                                  {"/events"},
	"GET /events/{id}":                             {"/events/" + customEventID},
	"GET /sms-settings":                            {"/sms-settings"},
	"PUT /sms-settings":                            {"/sms-settings", `{"provider":"operator","countries":["DE"]}`},
	"GET /sms-messages":                            {"/sms-messages"},
	"GET /sms-messages/{id}":                       {"/sms-messages/" + smsID},
	"GET /event-log":                               {"/event-log?types=email.delivered"},
	"GET /event-log/stream":                        {},
	"GET /automations/{id}/versions/{number}/diff": {"/automations/" + automationID + "/versions/1/diff"},
	"POST /automations/{id}/simulate":              {"/automations/" + automationID + "/simulate", `{"event":{}}`},
	"POST /automations/{id}/backtest":              {"/automations/" + automationID + "/backtest", `{"since":"2026-01-01T00:00:00Z"}`},
	"GET /events/{id}/explanation":                 {"/events/" + customEventID + "/explanation"},
	"GET /automation-runs/{id}/timeline":           {"/automation-runs/" + runID + "/timeline"},

	// Operations of signed-in users. The generated clients test them with a real server.
	"GET /members":                  {},
	"PATCH /members/{id}":           {},
	"DELETE /members/{id}":          {},
	"GET /invitations":              {},
	"POST /invitations":             {},
	"DELETE /invitations/{id}":      {},
	"POST /invitations/{id}/resend": {},
	"GET /audit-log":                {},
	"GET /audit-log/export":         {},
	"GET /sign-in":                  {},
	"POST /setup":                   {},
	"POST /session":                 {},
	"POST /session/link":            {},
	"POST /sign-up":                 {},
	"POST /sign-up/complete":        {},
	"POST /password/forgot":         {},
	"POST /password/reset":          {},
	"POST /invitations/open":        {},
	"POST /invitations/accept":      {},
	"POST /user/email":              {},
	"POST /user/email/stop":         {},
	"GET /session":                  {},
	"DELETE /session":               {},
	"POST /session/confirm":         {},
	"POST /session/account":         {},
	"GET /sessions":                 {},
	"DELETE /sessions":              {},
	"DELETE /sessions/{id}":         {},
	"POST /accounts":                {},
	"PATCH /user":                   {},
	"POST /user/totp":               {},
	"POST /user/totp/activate":      {},
	"DELETE /user/totp":             {},
	"POST /session/passkey/options": {},
	"POST /session/passkey":         {},
	"GET /user/passkeys":            {},
	"POST /user/passkeys":           {},
	"POST /user/passkeys/options":   {},
	"DELETE /user/passkeys/{id}":    {},
	"GET /session/oidc":             {},
	"GET /session/oidc/callback":    {},
	"POST /user/oidc":               {},
	"DELETE /user/oidc":             {},
}

// described is an operation in the document.
type described struct {
	RequestBody struct{ Content map[string]media }
	Responses   map[string]struct{ Content map[string]media }
}

// success returns the status and the content of the successful response.
func (d described) success() (string, map[string]media) {
	for _, status := range []string{"202", "200"} {
		if answer, has := d.Responses[status]; has {
			return status, answer.Content
		}
	}
	return "", nil
}

type media struct {
	Schema   json.RawMessage
	Example  any
	Examples map[string]struct{ Value any }
}

// component returns a reference to the component that the schema refers to, or the type of a schema without fields.
func (m media) component(t *testing.T) *huma.Schema {
	t.Helper()
	var form struct {
		Ref  string `json:"$ref"`
		Type string
	}
	if err := json.Unmarshal(m.Schema, &form); err != nil || form.Ref == "" && form.Type != huma.TypeString {
		t.Fatalf("the schema %.200s is neither a reference to a component nor a string (%v)", m.Schema, err)
	}
	return &huma.Schema{Ref: form.Ref, Type: form.Type}
}

// schemaChecker validates values by the JSON Schemas of a document.
type schemaChecker struct{ components any }

func newSchemaChecker(t *testing.T, document []byte) schemaChecker {
	t.Helper()
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	return schemaChecker{read.(map[string]any)["components"]}
}

// validate returns an error if a decoded JSON value does not match a schema of the document.
func (c schemaChecker) validate(schema json.RawMessage, value any) error {
	form, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("the schema %.200s is not JSON: %w", schema, err)
	}
	compiler := jsonschema.NewCompiler()
	const at = "https://example.com/document.json"
	if err := compiler.AddResource(at, map[string]any{"components": c.components, "schema": form}); err != nil {
		return err
	}
	compiled, err := compiler.Compile(at + "#/schema")
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

// operationsOf returns the operations of a document by method and path.
func operationsOf(t *testing.T, document []byte) map[string]described {
	t.Helper()
	var read struct {
		Paths map[string]map[string]described
	}
	if err := json.Unmarshal(document, &read); err != nil {
		t.Fatal(err)
	}
	out := map[string]described{}
	for path, methods := range read.Paths {
		for method, operation := range methods {
			out[strings.ToUpper(method)+" "+path] = operation
		}
	}
	return out
}

// An example with a missing or removed field misleads the integrators who copy it.
func TestExamplesHaveTheFieldsOfTheAnswers(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.sending.page.Items = []*ent.Email{sampleEmail()}
	checker := newSchemaChecker(t, b.api.Document().JSON)
	operations := operationsOf(t, b.api.Document().JSON)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(operations)), slices.Sorted(maps.Keys(asked))); diff != "" {
		t.Errorf("asked and the document (-) do not have the same operations:\n%s", diff)
	}
	for name, q := range asked {
		method, _, _ := strings.Cut(name, " ")
		if q[0] == "" {
			continue // tested elsewhere; the stream contains events of the log
		}
		got := b.do(t, request{method: method, path: "/api" + q[0], body: q[1]})
		want, success := operations[name].success()
		if strconv.Itoa(got.status) != want {
			t.Errorf("%s: got %d %s, want %s", name, got.status, got.body, want)
			continue
		}
		content, isJSON := success["application/json"]
		if !isJSON {
			continue
		}
		var answered any
		if err := json.Unmarshal([]byte(got.body), &answered); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(paths("", answered), paths("", content.Example)); diff != "" {
			t.Errorf("%s: the example (+) is not like the answer (-):\n%s", name, diff)
		}
		if wrong := checker.validate(content.Schema, answered); wrong != nil {
			t.Errorf("%s: the answer is not of its schema: %s", name, wrong)
		}
	}
}

func TestExamplesMatchTheirSchemas(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	checked := 0
	schemas := b.api.Schemas()
	checker := newSchemaChecker(t, b.api.Document().JSON)
	check := func(what string, m media) {
		examples := map[string]any{}
		for name, e := range m.Examples {
			examples[name] = e.Value
		}
		if m.Example != nil {
			examples["example"] = m.Example
		}
		if len(examples) == 0 {
			t.Errorf("%s has no example", what)
		}
		for name, example := range examples {
			checked++
			if wrong := checker.validate(m.Schema, example); wrong != nil {
				t.Errorf("%s: the example %s does not match its schema: %s", what, name, wrong)
			}
			for _, field := range undeclared(schemas, []*huma.Schema{m.component(t)}, "", example) {
				t.Errorf("%s: the example %s has the field %s, which the schema does not declare", what, name, field)
			}
		}
	}
	for name, operation := range operationsOf(t, b.api.Document().JSON) {
		for kind, m := range operation.RequestBody.Content {
			check(fmt.Sprintf("request of %s, %s", name, kind), m)
		}
		_, success := operation.success()
		for kind, m := range success {
			check(fmt.Sprintf("answer of %s, %s", name, kind), m)
		}
	}
	if checked < len(asked) {
		t.Errorf("%d examples of %d operations", checked, len(asked))
	}
	if checker.validate([]byte(`{"$ref": "#/components/schemas/SendEmail"}`), map[string]any{"from": 5}) == nil {
		t.Error("an invalid body passes")
	}
}

// undeclared lists the fields of a value that none of the schemas declares. JSON Schema calls them unevaluated
// properties.
func undeclared(components map[string]*huma.Schema, schemas []*huma.Schema, at string, v any) (all []string) {
	schemas = branches(components, schemas)
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			var declared []*huma.Schema
			open := false
			for _, s := range schemas {
				if property := s.Properties[name]; property != nil {
					declared = append(declared, property)
				}
				open = open || s.AdditionalProperties != nil && s.AdditionalProperties != false
			}
			switch {
			case len(declared) > 0:
				all = append(all, undeclared(components, declared, at+"."+name, member)...)
			case !open:
				all = append(all, at+"."+name)
			}
		}
	case []any:
		var items []*huma.Schema
		for _, s := range schemas {
			if s.Type == "" && s.AdditionalProperties == true {
				return nil // any value
			}
			if s.Items != nil {
				items = append(items, s.Items)
			}
		}
		for _, item := range v {
			all = append(all, undeclared(components, items, at+"[]", item)...)
		}
	}
	return all
}

// branches follows references and alternatives. An empty schema accepts any value, and an object without properties any
// field.
func branches(components map[string]*huma.Schema, schemas []*huma.Schema) (all []*huma.Schema) {
	for _, s := range schemas {
		if s.Ref != "" {
			s = components[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		}
		parts := slices.Concat(s.AllOf, s.AnyOf, s.OneOf)
		if (s.Type == "" || s.Type == huma.TypeObject) && len(parts)+len(s.Properties)+len(s.Required) == 0 {
			s = &huma.Schema{AdditionalProperties: true}
		}
		all = append(append(all, s), branches(components, parts)...)
	}
	return all
}

// paths lists the fields of a JSON value, once for all items of an array. The
// priority of DNS records is optional.
func paths(at string, v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name != "priority" {
				out = append(out, at+"."+name)
				out = append(out, paths(at+"."+name, member)...)
			}
		}
	case []any:
		for _, item := range v {
			out = append(out, paths(at+"[]", item)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
