// Package admission tells who makes an HTTP request: an API key, or a person by the cookie of a
// session.
//
// A request with the header Authorization is judged by it alone, also where it is wrong. Without
// it the cookie counts, on every operation of the API and on GraphQL. Which account a person means
// is said by the header Postrider-Account; without it, it is the session's.
//
// A request by cookie that may change something must come from a page of this installation: its
// Origin is the base URL, or the browser says Sec-Fetch-Site: same-origin.
package admission
