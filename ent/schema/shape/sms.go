package shape

// SMSProvider has the settings of an account's own SMS provider, except its secrets.
type SMSProvider struct {
	From string `json:"from,omitempty"` // for messages that name no sender

	// Of twilio.
	AccountSID string `json:"account_sid,omitempty"`
	BaseURL    string `json:"base_url,omitempty"` // of one that is compatible; empty: Twilio's

	// Of http.
	URL         string   `json:"url,omitempty"`          // masked, if Sealed
	HeaderNames []string `json:"header_names,omitempty"` // of the headers whose values are sealed
	Body        string   `json:"body,omitempty"`         // Liquid; masked, if Sealed
	ContentType string   `json:"content_type,omitempty"`
	IDPath      string   `json:"id_path,omitempty"`    // path of the provider's id in its response, such as messages.0.id
	Idempotent  bool     `json:"idempotent,omitempty"` // a request that is repeated sends nothing twice
	Sealed      bool     `json:"sealed,omitempty"`     // the whole URL and body are among the credentials
}
