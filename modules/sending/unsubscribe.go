package sending

// The header fields that ask a mail program to offer an unsubscribe button, RFC
// 2369 section 3.2 and RFC 8058 section 3.1.
const (
	listUnsubscribe     = "List-Unsubscribe"
	listUnsubscribePost = "List-Unsubscribe-Post"
)
