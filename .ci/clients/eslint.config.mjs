// Judges the schema that the server serves and every GraphQL document that ships with Postrider, as
// graphql.mjs lays them into build. A rule that is off says why.
import graphql from '@graphql-eslint/eslint-plugin'

const schema = 'build/schema.graphql'
const documents = 'build/documents/**/*.graphql'
const judge = (files, ...rules) => ({
  files: [files],
  plugins: { '@graphql-eslint': graphql },
  languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema, documents } } },
  rules: Object.assign({}, ...rules),
})
const { configs } = graphql

export default [
  judge(schema, configs['flat/schema-recommended'].rules, configs['flat/schema-relay'].rules, {
    '@graphql-eslint/strict-id-in-types': 'off', // what has an id is a Node; figures, pages and parts of a Node have none
    '@graphql-eslint/no-typename-prefix': 'off', // a field has the name of the REST API: `billing_email` of billing
    '@graphql-eslint/relay-edge-types': ['error', { listTypeCanWrapOnlyEdgeType: false, shouldImplementNode: false }], // lists of a fixed size are lists; entries of four lists have no id that node() takes
  }),
  judge(documents, configs['flat/operations-recommended'].rules, {
    '@graphql-eslint/require-selections': 'off', // for caches that merge answers by id; the dashboard keeps them by document
  }),
]
