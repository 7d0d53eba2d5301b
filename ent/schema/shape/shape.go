// Package shape holds the Go types of the JSON columns, apart from the schema
// so that generated code and modules can both import them.
package shape

// Tag is one name and value pair that the caller attached to an email.
type Tag struct {
	Name  string `json:"name" doc:"The name of the tag."`
	Value string `json:"value" doc:"The value of the tag."`
}

// Header is one custom header field of an email, in the caller's order.
type Header struct {
	Name  string `json:"name" doc:"The name of the header field."`
	Value string `json:"value" doc:"The value of the header field."`
}

// RecordState is the last seen state of one DNS record of a domain.
type RecordState struct {
	Purpose  string   `json:"purpose"`            // ownership, dkim, return_path, spf, dmarc, inbound_mx, tls_reports, bimi…
	Selector string   `json:"selector,omitempty"` // dkim only: which of the domain's keys
	Status   string   `json:"status"`             // missing, mismatch, verified
	Found    []string `json:"found"`              // values that the resolver returned, as published
	Error    string   `json:"error"`              // one sentence that says what to do; empty if verified

	Findings []RecordFinding `json:"findings,omitempty"` // bimi only: checks of everything that the record needs
}

// RecordFinding is the result of one check of what a DNS record refers to.
type RecordFinding struct {
	Code  string `json:"code"`  // stable
	State string `json:"state"` // met, close, broken, unknown
	Found string `json:"found"` // one sentence
	Fix   string `json:"fix"`   // one sentence that says what to do; empty if nothing is needed
}

// Variable is one variable of a template.
type Variable struct {
	Key      string `json:"key"`               // as `customer.name`
	Type     string `json:"type"`              // string, number, boolean, list, object
	Required bool   `json:"required"`          // a send without it is refused
	Fallback any    `json:"fallback"`          // default value; null if there is none
	Example  any    `json:"example,omitempty"` // value for previews
}

// Translation is the content of a template in another language. Parts that it lacks are empty.
type Translation struct {
	Locale  string `json:"locale"` // BCP 47
	Subject string `json:"subject,omitempty"`
	HTML    string `json:"html,omitempty"`
	Text    string `json:"text,omitempty"`
}

// Component is a layout or a partial in a published version of a template, with the version that it was published
// with.
type Component struct {
	Kind       string `json:"kind"` // layout or partial
	TemplateID string `json:"template_id"`
	Version    int    `json:"version"`
}

// TranslationSummary says which parts a translation has.
type TranslationSummary struct {
	Locale  string `json:"locale"`
	Subject bool   `json:"subject,omitempty"`
	HTML    bool   `json:"html,omitempty"`
	Text    bool   `json:"text,omitempty"`
}
