// Package admission authenticates HTTP requests: by an API key, or by the session cookie of a person.
//
// If a request has an Authorization header, only that header counts, even if it is invalid. Otherwise the
// cookie counts, on every operation of the API and on GraphQL. The Postrider-Account header selects the
// account of a person; it defaults to the account of the session. The Postrider-Mode header selects test mode.
//
// A request with a cookie that may change something must come from a page of this installation: its Origin is
// the base URL, or the browser sends Sec-Fetch-Site: same-origin.
package admission
