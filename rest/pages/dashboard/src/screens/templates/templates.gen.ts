// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** The kind of a template. */
export type TemplateKind =
  /** A message that can be sent. */
  | 'TEMPLATE'
  /** The frame of templates, with blocks that they fill. */
  | 'LAYOUT'
  /** A piece that templates and layouts include. */
  | 'PARTIAL';

/** Whether emails can use a template. */
export type TemplateStatus =
  /** The template was never published. */
  | 'DRAFT'
  /** Emails use the published version. */
  | 'PUBLISHED';

export type TemplatesQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type TemplatesQuery = { templates: { nodes: Array<{ id: string, kind: TemplateKind, alias: string | null, name: string, status: TemplateStatus, version: number | null, publishedAt: string | null, hasUnpublishedChanges: boolean, hasNewerComponents: boolean, subject: string | null, updatedAt: string, locales: Array<{ locale: string, missing: Array<string> }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type TemplatesWithComponentsQueryVariables = Exact<{ [key: string]: never; }>;


export type TemplatesWithComponentsQuery = { templates: { nodes: Array<{ id: string, name: string, components: Array<{ templateId: string }> }> } };

export type TemplateComponentsQueryVariables = Exact<{ [key: string]: never; }>;


export type TemplateComponentsQuery = { layouts: { nodes: Array<{ id: string, alias: string | null }> }, partials: { nodes: Array<{ id: string, alias: string | null }> } };

export type TemplateStampQueryVariables = Exact<{
  id: string;
}>;


export type TemplateStampQuery = { template: { updatedAt: string } | null };

export type TemplateVersionsQueryVariables = Exact<{
  id: string;
  after?: string | null | undefined;
}>;


export type TemplateVersionsQuery = { template: { versions: { nodes: Array<{ version: number, subject: string | null, from: string | null, publishedAt: string, publishedBy: string | null, variables: Array<{ key: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export const Templates = gql<TemplatesQuery, TemplatesQueryVariables>('Templates', '0f8ef046fa01deaf933806b3ac5adf3e9f768bc369d345d80dd4b74d357b9b74', import.meta.env.DEV ? "query Templates($after: String) {\n  templates(first: 100, after: $after) {\n    nodes {\n      id\n      kind\n      alias\n      name\n      status\n      version\n      publishedAt\n      hasUnpublishedChanges\n      hasNewerComponents\n      subject\n      locales {\n        locale\n        missing\n      }\n      updatedAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
export const TemplatesWithComponents = gql<TemplatesWithComponentsQuery, TemplatesWithComponentsQueryVariables>('TemplatesWithComponents', 'be78d83cf43f61658b1c68c3a038382b528212e59c353f9b7cdb9daddf1db21e', import.meta.env.DEV ? "query TemplatesWithComponents {\n  templates(first: 100, filter: {kind: TEMPLATE}) {\n    nodes {\n      id\n      name\n      components {\n        templateId\n      }\n    }\n  }\n}" : undefined)
export const TemplateComponents = gql<TemplateComponentsQuery, TemplateComponentsQueryVariables>('TemplateComponents', '8f34803018ad1203fdff21ab7b35a604bfa29468c3f72f311e2ccacab846bb4f', import.meta.env.DEV ? "query TemplateComponents {\n  layouts: templates(first: 100, filter: {kind: LAYOUT}) {\n    nodes {\n      id\n      alias\n    }\n  }\n  partials: templates(first: 100, filter: {kind: PARTIAL}) {\n    nodes {\n      id\n      alias\n    }\n  }\n}" : undefined)
export const TemplateStamp = gql<TemplateStampQuery, TemplateStampQueryVariables>('TemplateStamp', '52ad512b9be24a104b5fbb1da955697203b9601ec4b498f960844651c96bcdcc', import.meta.env.DEV ? "query TemplateStamp($id: ID!) {\n  template(id: $id) {\n    updatedAt\n  }\n}" : undefined)
export const TemplateVersions = gql<TemplateVersionsQuery, TemplateVersionsQueryVariables>('TemplateVersions', '8a320a03f8136aa2b3c543311296610cd8123cf5f125fd1d345e788278982602', import.meta.env.DEV ? "query TemplateVersions($id: ID!, $after: String) {\n  template(id: $id) {\n    versions(first: 50, after: $after) {\n      nodes {\n        version\n        subject\n        from\n        publishedAt\n        publishedBy\n        variables {\n          key\n        }\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n}" : undefined)
