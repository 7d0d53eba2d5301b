// Package export is how a list is answered as a whole: as JSON Lines or CSV, page by page.
//
// A resource gives the page function of its list and the columns of the CSV; [Add] does the rest. An
// export holds one page at a time. It reads on only as fast as its client takes what came before, and it
// ends when the client leaves, when the right to it is taken away, or when another export of the account
// took its turn. An answer that cannot be brought to its end breaks the connection off: a client that saw
// the end has everything.
package export
