/** The default theme with colours that pass axe, in light and dark, and the menu of versions. */
import { h } from 'vue'
import theme from 'vitepress/theme-without-fonts'
import Versions from './Versions.vue'
import './style.css'

export default {
  extends: theme,
  Layout: () => h(theme.Layout, null, { 'nav-bar-content-after': () => h(Versions), 'nav-screen-content-after': () => h(Versions) }),
}
