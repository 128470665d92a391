// Chat messages: role, texts, images and tool calls. An image that is not in the data is shown as its address.
import { element } from "./dom.js";
import { textBox } from "./texts.js";

const IMAGE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=\s]+$/;

export function messageBoxes(messages, where) {
  return messages.map((message, place) => element("div", { class: "message" },
    element("div", { class: "role" }, [message.role, message.name].filter(Boolean).join(" · ")),
    contentBoxes(message, `Message ${place + 1} of the ${where}`),
    listOf(message.tool_calls).map((call) => toolCall(call, `Tool call in message ${place + 1} of the ${where}`))));
}

function contentBoxes({ content, tool_calls: calls }, label) {
  if (Array.isArray(content)) return content.map((part) => partBox(part, label));
  const isEmpty = content === "" || content === null || content === undefined;
  return isEmpty && listOf(calls).length ? [] : textBox(label, asText(content ?? ""));
}

function partBox(part, label) {
  if (typeof part?.text === "string") return textBox(label, part.text);
  const address = imageAddress(part);
  if (address && IMAGE.test(address)) return element("img", { class: "picture", src: address, alt: `Image in ${label}`, loading: "lazy" });
  return textBox(label, address ? `image: ${address.slice(0, 500)}` : asText(part));
}

// Where OpenAI's, Hugging Face's and Anthropic's forms of an image part keep the image.
function imageAddress(part) {
  const { source } = part ?? {};
  if (source?.data && source?.media_type) return `data:${source.media_type};base64,${source.data}`;
  const kept = part?.image_url?.url ?? part?.image_url ?? part?.image ?? part?.url;
  return typeof kept === "string" ? kept : null;
}

function toolCall(call, label) {
  const { name, arguments: given } = call?.function ?? call ?? {};
  return element("div", { class: "tool-call" },
    element("div", { class: "role" }, `calls ${name ?? "a tool"}`),
    textBox(label, asText(given ?? call)));
}

function listOf(value) { return Array.isArray(value) ? value : []; }

export function asText(value) { return typeof value === "string" ? value : JSON.stringify(value, null, 2); }
