// Package plans stores the plans that an installation offers to its accounts, and reports their usage. Plans are
// data: the operator changes limits, included volumes and ranks, and adds plans. Usage is counted by hour, day and
// month; plans with overage are billed by it.
package plans
