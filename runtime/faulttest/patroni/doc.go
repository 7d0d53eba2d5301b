// Package patroni runs three machines of a PostgreSQL cluster under Patroni and etcd, each of processes of its
// own on loopback, from the files of deploy/patroni. What differs between machines is given by their
// environment, as both programs take it. Its users kill, freeze and take away machines.
package patroni
