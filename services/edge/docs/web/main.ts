// The reference in a browser: what its page does beyond being read.
import { followAnchors } from './anchors.ts'
import { showBaseAddress } from './base-address.ts'
import { addContentsButton, followReading } from './contents.ts'
import { addCopyButtons } from './copy.ts'
import { addLanguageTabs } from './languages.ts'
import { addSearch } from './search-dialog.ts'
import { addTryForms } from './try-it.ts'
import './styles/docs.css'

showBaseAddress()
addLanguageTabs()
addCopyButtons()
addTryForms()
addSearch()
addContentsButton()
followAnchors()
followReading()
