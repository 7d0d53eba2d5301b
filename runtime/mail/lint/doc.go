// Package lint finds problems in the content of an email: markup that mail clients do not show, links that spam filters
// distrust, missing texts, and malformed header fields. It reads the message only and connects to no host.
//
// HTML is processed token by token without a tree, so time is proportional to the length of the message. A problem is
// reported once, with the number of its places and the first of them. Markup outside the limits of a problem's pattern
// is not reported: the result is advice, and never a reason to refuse a message.
package lint
