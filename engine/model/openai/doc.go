// Package openai owns the client of endpoints that speak the OpenAI
// chat-completions protocol with tool calls: OpenAI's own, Ollama, OpenRouter,
// vLLM and many more. [Preset] knows the address and the key variable of a few.
//
// It is a package of its own so that only a program that opens such an endpoint
// links the library behind it. It imports nothing of the project but model.
package openai
