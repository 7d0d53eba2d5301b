//go:build race

package dashboard

// mostAllocated is higher here: instrumented code keeps more variables on the heap, about an eighth of all bytes.
const mostAllocated = 75
