// Package operator serves those who run the installation: its accounts, plans, payments and audit log.
package operator
