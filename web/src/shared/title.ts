import { ref } from 'vue'

/** The title of the page in the window. A page of one object sets its name. */
export const pageTitle = ref('')
