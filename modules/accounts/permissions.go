package accounts

import (
	"fmt"
	"slices"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
)

// checkPermissions returns permissions sorted and without duplicates.
func checkPermissions(wrong fault.Fields, given []rights.Permission) []rights.Permission {
	known := rights.Permissions()
	for i, p := range given {
		if !slices.Contains(known, p) {
			wrong.Add(fmt.Sprintf("permissions[%d]", i), "must be a permission, such as emails:send")
		}
		if i > len(known) { // any further entry must be a duplicate, and one error is enough
			break
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(given)))
}

// permissionsOf returns the permissions of a key.
func permissionsOf(k *ent.APIKey) []rights.Permission {
	list := make([]rights.Permission, len(k.Permissions))
	for i, name := range k.Permissions {
		list[i] = rights.Permission(name)
	}
	return list
}

// namesOf returns permissions as they are stored.
func namesOf(permissions []rights.Permission) []string {
	names := make([]string, len(permissions))
	for i, p := range permissions {
		names[i] = string(p)
	}
	return names
}
