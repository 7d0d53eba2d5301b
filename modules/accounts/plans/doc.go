// Package plans is what an installation offers its accounts, as data: the operator changes limits,
// included volumes and ranks, and adds plans of their own. And it is the usage of an account by hour,
// day and month, which plans with overage are billed by.
package plans
