// Package statistics serves statistics over time of one automation and of one template.
package statistics
