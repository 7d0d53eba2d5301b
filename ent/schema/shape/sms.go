package shape

// SMSProvider has the settings of an account's own SMS provider, except its secrets.
type SMSProvider struct {
	From string `json:"from,omitempty"` // sender for messages that do not set one

	// Of twilio.
	AccountSID string `json:"account_sid,omitempty"`
	BaseURL    string `json:"base_url,omitempty"` // URL of a compatible API; empty: Twilio's

	// Of http.
	URL         string   `json:"url,omitempty"`          // masked, if Sealed
	HeaderNames []string `json:"header_names,omitempty"` // names of the header fields whose values are sealed
	Body        string   `json:"body,omitempty"`         // Liquid; masked, if Sealed
	ContentType string   `json:"content_type,omitempty"`
	IDPath      string   `json:"id_path,omitempty"`    // path of the provider's id in its response, such as messages.0.id
	Idempotent  bool     `json:"idempotent,omitempty"` // a repeated request does not send the message again
	Sealed      bool     `json:"sealed,omitempty"`     // the whole URL and body are sealed with the credentials
}
