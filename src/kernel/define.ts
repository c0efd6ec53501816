/** Identity helpers: they give types to object literals and do nothing at run time. */
import type { Plugin } from '../contract/plugin.ts'

/** Types a plugin literal; the type of its api is inferred. */
export function definePlugin<Ext>(plugin: Plugin<Ext>): Plugin<Ext> {
  return plugin
}
