/** The default theme with colours that pass axe, in light and dark. */
import theme from 'vitepress/theme-without-fonts'
import './style.css'

export default theme
