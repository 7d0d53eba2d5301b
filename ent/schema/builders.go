package schema

// Builders annotates an entity that Go code reads and writes through Ent: it gets a client with queries, and the
// builders named here. The rows of an entity without the annotation are read and written by SQL only.
type Builders struct {
	Create, Update, Delete bool
	// Select keeps the methods of the query after Select and Modify: Query().Select(…).All(ctx).
	Select bool
}

// Name is the key of the annotation.
func (Builders) Name() string { return "Builders" }
