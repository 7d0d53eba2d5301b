// Package export returns a complete list, as JSON Lines or CSV, page by page.
//
// A resource provides the page function of its list and the columns of the CSV; [Add] does the rest. An
// export holds one page in memory at a time, and reads the next one only when the client has received it. It
// ends if the client disconnects, if the caller loses the permission, or if another export of the account has
// taken over its slot. If an export fails, the connection is aborted, so a response that ends properly is complete.
package export
