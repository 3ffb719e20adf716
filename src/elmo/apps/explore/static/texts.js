// The texts that can be looked at: the one that the page was started with, and pasted ones, which this tab remembers.

import { ask, isSaved, Refused } from "./source.js";

const KEPT = "elmo-text:";

export class Texts {
  constructor(start) {
    this.main = { examples: start.examples, sentences: start.sentences, tokens: start.tokens };
    this.known = new Map();
  }

  find(name) {
    return (name && this.known.get(name)) || { ...this.main, examples: name ? [] : this.main.examples };
  }

  // Give a text to the server; its name is what the address holds.
  async take(content) {
    const found = await ask("text", { content });
    this.known.set(found.text, found);
    try {
      sessionStorage.setItem(KEPT + found.text, content);
    } catch {
      // too long to be remembered here: a reload asks for it again
    }
    return found;
  }

  // The server forgets texts; a tab that still has one gives it again.
  async ensure(name) {
    if (!name || isSaved || this.known.has(name)) return;
    let content = null;
    try {
      content = sessionStorage.getItem(KEPT + name);
    } catch {
      content = null;
    }
    if (content === null) throw new Refused("This link is about a text that was pasted in another tab. Paste it again under “Text”.", 404);
    await this.take(content);
  }
}
