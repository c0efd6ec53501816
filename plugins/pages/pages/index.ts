/** The built-in pages. HTML and CSS only; what a provider looks like comes from its type's `form()`. */
export { pagesPlugin } from './plugin.ts'
export type { PageReplacement, PagesPluginOptions, PartReplacements } from './options.ts'
export { pageTools } from './ui/tools.ts'
