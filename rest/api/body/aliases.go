package body

// Names are the names of the fields of an object that have several, and those of the fields that
// can be written in two ways.
type Names struct {
	First     map[string]string // of each of these names
	Within    map[string]*Names // of the fields that such an object holds, by its first name
	OneOrMany map[string]bool   // the fields, by first name, that have an item or a list of items
}

// Aliased is a type in which fields have aliases. A type of a resource may be one.
type Aliased interface {
	Aliases() *Names
}

// itemOrList is a type whose single item is equivalent to a list of that item.
type itemOrList interface{ itemOrList() }

// Aliases returns the fields that have several names, recursively, and the fields that accept an item or a
// list. It returns nil if there are none. Requests that differ only in these are equal.
func (o Object) Aliases() *Names {
	names := &Names{First: map[string]string{}, Within: map[string]*Names{}, OneOrMany: map[string]bool{}}
	for _, f := range o.Fields {
		if len(f.Aliases) > 0 {
			for _, name := range f.Names() {
				names.First[name] = f.Name
			}
		}
		if f.Means != "" {
			names.First[f.Means], names.First[f.Name] = f.Means, f.Means
		}
		if _, is := f.Type.(itemOrList); is {
			names.OneOrMany[f.Name] = true
		}
		if inner, is := f.Type.(Aliased); is {
			if within := inner.Aliases(); within != nil {
				names.Within[f.Name] = within
			}
		}
	}
	if len(names.First)+len(names.Within)+len(names.OneOrMany) == 0 {
		return nil
	}
	return names
}

// Aliases returns the aliases of the items.
func (t ListType[T, K]) Aliases() *Names { return aliasesOf(t.of(new(T))) }

// Aliases returns the aliases of the value.
func (t maybe[T, K]) Aliases() *Names { return aliasesOf(t.of(new(T))) }

func aliasesOf(t Type) *Names {
	if inner, is := t.(Aliased); is {
		return inner.Aliases()
	}
	return nil
}
