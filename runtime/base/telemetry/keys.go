package telemetry

// The keys of log attributes. Add new keys here.
const (
	KeyAccountID   = "account_id"
	KeyAddress     = "address" // of a listener or peer, host:port
	KeyAttempt     = "attempt"
	KeyBytes       = "bytes"
	KeyClass       = "class" // the subject of a rejection, see runtime/mail/bounce
	KeyCode        = "code"  // the error code returned to the client
	KeyConfig      = "config"
	KeyCount       = "count"
	KeyDeliveryID  = "delivery_id" // of a webhook delivery
	KeyDomainID    = "domain_id"
	KeyDuration    = "duration"
	KeyEffective   = "effective" // whether a report changed anything
	KeyEmailID     = "email_id"
	KeyError       = "error"
	KeyEvent       = "event" // an event type
	KeyFactID      = "fact_id"
	KeyGroup       = "group" // consumer group
	KeyKeyID       = "key_id"
	KeyMethod      = "method"
	KeyOutcome     = "outcome"
	KeyPhase       = "phase"    // of an SMTP session
	KeyProvider    = "provider" // of text messages
	KeyReason      = "reason"
	KeyRecipientID = "recipient_id"
	KeyRemote      = "remote" // the client's or server's IP address
	KeyRemoteAddr  = "remote_addr"
	KeyRemoteHost  = "remote_host"
	KeyRepeated    = "repeated"
	KeyReply       = "reply" // an SMTP server's reply text
	KeyRequestID   = "request_id"
	KeyRoute       = "route"
	KeySMSID       = "sms_id"
	KeySpanID      = "span_id"
	KeyStack       = "stack"
	KeyStatus      = "status"
	KeyTLS         = "tls"
	KeyTraceID     = "trace_id"
	KeyUserAgent   = "user_agent"
	KeyVersion     = "version"
	KeyWebhookID   = "webhook_id"
)
