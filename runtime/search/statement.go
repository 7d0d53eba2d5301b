package search

import "github.com/postrider/postrider/runtime/db"

// Statement is db.Query.
type Statement = db.Query
