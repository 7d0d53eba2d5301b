package body

// Names are the names of the fields of an object that have several.
type Names struct {
	First  map[string]string // of each of these names
	Within map[string]*Names // of the fields that such an object holds, by its first name
}

// Aliased is a type in which fields have aliases. A type of a resource may be one.
type Aliased interface {
	Aliases() *Names
}

// Aliases tells the names of the fields that have several, here and in what they hold; nil: no
// field has. Requests that differ only in them are equal.
func (o Object) Aliases() *Names {
	names := &Names{First: map[string]string{}, Within: map[string]*Names{}}
	for _, f := range o.Fields {
		if len(f.Aliases) > 0 {
			for _, name := range f.Names() {
				names.First[name] = f.Name
			}
		}
		if f.Means != "" {
			names.First[f.Means], names.First[f.Name] = f.Means, f.Means
		}
		if inner, is := f.Type.(Aliased); is {
			if within := inner.Aliases(); within != nil {
				names.Within[f.Name] = within
			}
		}
	}
	if len(names.First)+len(names.Within) == 0 {
		return nil
	}
	return names
}

// Aliases tells those of the items.
func (t ListType[T, K]) Aliases() *Names { return aliasesOf(t.of(new(T))) }

// Aliases tells those of the value.
func (t maybe[T, K]) Aliases() *Names { return aliasesOf(t.of(new(T))) }

func aliasesOf(t Type) *Names {
	if inner, is := t.(Aliased); is {
		return inner.Aliases()
	}
	return nil
}
